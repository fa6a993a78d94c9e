package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.sync.JobStatusSync.RemoteStatus;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.kinds.statefulset.StatefulSets;
import dev.sluice.kube.json.JsonMergePatch;
import dev.sluice.testing.HostileSamples;
import dev.sluice.testing.Mutations;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Objects that a worker's API server sends, changed as somebody would who means harm: nothing that
 * is made of them may throw, because the manager's Workload would then be stuck in all workers.
 * {@code -Dsluice.fuzz.objects=N} reads N of them, {@code -Dsluice.fuzz.seed=N} begins with others.
 */
class HostileWorkerTest {

  private static final long OBJECTS = Long.getLong("sluice.fuzz.objects", 10_000);
  private static final long SEED = Long.getLong("sluice.fuzz.seed", 1);
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final OriginLabel ORIGIN = new OriginLabel("here", true);
  private static final Key KEY = new Key("team", "a");

  private static final List<MultiKueueKind> KINDS =
      List.of(
          MultiKueueKind.of(new BatchJob()).orElseThrow(),
          MultiKueueKind.of(new StatefulSets()).orElseThrow(),
          MultiKueueKinds.POD);

  private final RemoteWorkloadFactory workloads = new RemoteWorkloadFactory();
  private final Map<String, ObjectNode> samples = HostileSamples.byKind();
  private final CachedWorkload ours = parsed(sample("Workload"));

  @Test
  void whateverAWorkerSendsIsReadToTheEnd() {
    Map<String, Integer> failures = new TreeMap<>();
    List<String> kinds = List.of("Workload", "Job", "Pod", "StatefulSet");
    for (long i = 0; i < OBJECTS; i++) {
      long seed = SEED + i;
      String text =
          HostileSamples.text(new Mutations(seed).of(sample(kinds.get((int) (i % kinds.size())))));
      try {
        read(text);
      } catch (IOException | RuntimeException | StackOverflowError e) {
        if (failures.merge(HostileSamples.place(e), 1, Integer::sum) == 1) {
          System.out.println("seed " + seed + ": " + text + "\n  " + e);
        }
      }
    }
    System.out.printf("objects of workers: %d fed, failures: %s%n", OBJECTS, failures);
    assertThat(failures).isEmpty();
  }

  private ObjectNode sample(String kind) {
    return Objects.requireNonNull(samples.get(kind));
  }

  private static CachedWorkload parsed(ObjectNode workload) {
    try {
      return new WorkloadParser().parse(workload.toString().getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void read(String text) throws IOException {
    ObjectNode there;
    try {
      there = (ObjectNode) JsonMappers.JSON.readTree(text);
    } catch (JsonProcessingException e) {
      return; // ends the connection
    }
    assertThat(OriginLabel.workload(there)).isNotNull();
    assertThat(ORIGIN.isOn(there, KEY)).isFalse();
    OriginLabel.isDeleting(there);
    switch (there.path("kind").asText()) {
      case "Workload" -> workload(there);
      case "Pod" -> {
        pod(sample("Pod"), there);
        job(there);
      }
      default -> job(there);
    }
  }

  private void workload(ObjectNode there) {
    assertThat(workloads.read(there, Optional.of(ours), false)).isNotNull();
    RemoteWorkloadFactory.isAdmitted(there);
    applied(there, RemoteWorkloadFactory.opened(there, NOW));
    applied(there, RemoteWorkloadFactory.stopped(there, NOW));
  }

  private void pod(ObjectNode local, ObjectNode there) {
    PodStatuses.ended(there);
    ObjectNode synced = JsonMergePatch.applied(local, PodStatuses.synced(local, there, NOW));
    applied(synced, PodStatuses.gone(synced, "m", NOW));
    applied(synced, PodStatuses.gated(synced, NOW));
  }

  private void job(ObjectNode there) {
    for (MultiKueueKind kind : KINDS) {
      if (kind.kind().equals(there.path("kind").asText())) {
        ObjectNode local = sample(kind.kind());
        RemoteJobFactory.ended(kind, there);
        RemoteStatus.isIdle(there.path("status"));
        ObjectNode shown =
            RemoteJobFactory.appliedTo(
                local, RemoteJobFactory.withRemoteStatus(kind, local, there, NOW).patch());
        applied(shown, RemoteJobFactory.withoutPodCounts(kind, shown, NOW));
        applied(there, RemoteJobFactory.pushed(kind, local, there));
        assertThat(RemoteStatus.annotated(shown.path("status"))).isNotNull();
      }
    }
  }

  private static void applied(ObjectNode object, ObjectNode patch) {
    assertThat(JsonMergePatch.applied(object.deepCopy(), patch)).isNotNull();
  }
}
