package dev.sluice.workload.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Listeners of the cache that fail. */
class WorkloadCacheListenersTest {

  private final WorkloadCache cache = new WorkloadCache();
  private final List<String> told = new ArrayList<>();

  private static CachedWorkload workload(String name) throws IOException {
    return new WorkloadParser()
        .parse(
            """
            {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
             "metadata": {"name": "%s", "namespace": "n", "uid": "u-%s", "resourceVersion": "7"},
             "spec": {"queueName": "q", "podSets": []}}
            """
                .formatted(name, name)
                .getBytes(StandardCharsets.UTF_8));
  }

  private void note(@Nullable CachedWorkload after) {
    told.add(after == null ? "gone" : after.id().name());
  }

  @Test
  void aListenerThatAlwaysFailsKeepsNoOtherFromBeingTold() throws IOException {
    cache.listen(
        (before, after) -> {
          throw new LinkageError("intended");
        });
    cache.listen((before, after) -> note(after));

    cache.seen(workload("a"));
    cache.seen(workload("b"));

    assertThat(told).containsExactly("a", "b");
    assertThat(cache.get("n", "a")).isPresent();
  }

  @Test
  void aCallThatFailedIsRepeated() throws IOException {
    boolean[] failed = {false};
    cache.listen(
        (before, after) -> {
          if (!failed[0]) {
            failed[0] = true;
            throw new IllegalStateException("intended");
          }
          note(after);
        });

    cache.seen(workload("a"));

    assertThat(told).containsExactly("a");
  }
}
