package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import dev.sluice.workload.writing.WorkloadWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Variants that lost their parent (docs/concurrent-admission.md). */
class VariantLifecycleTest {

  private static final String VARIANT =
      """
      "annotations": {"kueue.x-k8s.io/workload-allowed-resource-flavors": "spot"}
      """;

  private final List<String> deleted = new ArrayList<>();

  private static CachedWorkload workload(String uid, String metadata) throws IOException {
    String json =
        """
        {"metadata": {"name": "v", "namespace": "team", "uid": "%s", "resourceVersion": "1", %s},
         "spec": {"queueName": "training", "podSets": []}}
        """
            .formatted(uid, metadata);
    return new WorkloadParser().parse(json.getBytes(StandardCharsets.UTF_8));
  }

  /** Where no webhook forbids it, the garbage collector takes the parent's name off it. */
  @Test
  void aVariantThatNamesNoParentAnyMoreIsDeleted() throws IOException {
    CachedWorkload variant =
        workload(
            "u",
            VARIANT
                + """
                , "ownerReferences": [{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
                   "name": "p", "uid": "uid-p", "controller": true}]
                """);
    VariantLifecycle lifecycle =
        new VariantLifecycle(
            new KnownWorkloads(),
            new Deletions(),
            new VariantLifecycle.Options(
                any -> Optional.empty(),
                any -> CompletableFuture.completedFuture(Optional.empty()),
                false,
                253),
            (any, event) -> {},
            () -> true,
            () -> Instant.EPOCH,
            Runnable::run,
            (delay, task) -> {});
    lifecycle.leadershipStarted();

    lifecycle.changed(variant, workload("other", "\"labels\": {}"));
    assertThat(deleted).as("another Workload of its name").isEmpty();
    lifecycle.changed(variant, workload("u", VARIANT));
    assertThat(deleted).containsExactly("v");
  }

  /** Records what is deleted. */
  private final class Deletions implements WorkloadWriter {

    @Override
    public CompletableFuture<Outcome> patchStatus(
        WorkloadId id, long version, JsonNode status, Urgency urgency) {
      throw new AssertionError("not here");
    }

    @Override
    public CompletableFuture<Outcome> patch(WorkloadId id, long version, JsonNode patch) {
      throw new AssertionError("not here");
    }

    @Override
    public CompletableFuture<Outcome> create(String namespace, JsonNode workload) {
      throw new AssertionError("not here");
    }

    @Override
    public CompletableFuture<Outcome> delete(WorkloadId id) {
      deleted.add(id.name());
      return CompletableFuture.completedFuture(new Outcome.Written(1));
    }
  }
}
