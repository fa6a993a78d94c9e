package dev.sluice.kubequeue;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.workload.record.CachedWorkload;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the QueueUnit of a Workload shows, and what of it people may change. */
class QueueUnitManifestTest {

  private static QueueUnitManifest manifest(CachedWorkload workload) {
    return QueueUnitManifest.of(
        "sample",
        workload,
        workload.owner().orElseThrow(),
        Optional.of(job().label("team", "a").view()),
        "research");
  }

  private static String phase(GivenWorkload workload) {
    return manifest(workload.get()).status().at("/status/phase").asText();
  }

  @Test
  void thePhaseFollowsTheWorkload() {
    assertThat(phase(workloadOf(job()))).isEqualTo("Enqueued");
    assertThat(phase(workloadOf(job()).reserved("spot"))).isEqualTo("Reserved");
    assertThat(phase(workloadOf(job()).admitted("spot"))).isEqualTo("Dequeued");
    assertThat(phase(workloadOf(job()).admitted("spot").podsReady("True", "Started")))
        .isEqualTo("Running");
    assertThat(phase(workloadOf(job()).admitted("spot").evicted("Preempted", "m")))
        .isEqualTo("Preempted");
    assertThat(phase(workloadOf(job()).evicted("Preempted", "m"))).isEqualTo("Enqueued");
    assertThat(phase(workloadOf(job()).admitted("spot").evicted("PodsReadyTimeout", "m")))
        .isEqualTo("TimeoutBackoff");
    assertThat(
            phase(
                workloadOf(job())
                    .evicted("PodsReadyTimeout", "m")
                    .condition("Requeued", "False", "PodsReadyTimeout", "m")))
        .isEqualTo("TimeoutBackoff");
    assertThat(
            phase(
                workloadOf(job())
                    .evicted("PodsReadyTimeout", "m")
                    .condition("Requeued", "True", "BackoffFinished", "m")))
        .isEqualTo("Enqueued");
    assertThat(phase(workloadOf(job()).condition("Finished", "True", "Succeeded", "m")))
        .isEqualTo("Succeed");
    assertThat(phase(workloadOf(job()).condition("Finished", "True", "Failed", "m")))
        .isEqualTo("Failed");
    assertThat(phase(workloadOf(job()).condition("Finished", "True", "FailedToStart", "m")))
        .isEqualTo("Failed");
  }

  @Test
  void theUnitSaysWhatWaitsAndWhatWasGiven() {
    ObjectNode unit = manifest(workloadOf(job()).admitted("spot").get()).object();
    assertThat(unit.at("/metadata/labels/team").asText()).isEqualTo("a");
    assertThat(unit.at("/metadata/labels/sluice.dev~1mirror").asText()).isEqualTo("true");
    assertThat(unit.at("/metadata/labels/kueue.x-k8s.io~1queue-name").isMissingNode()).isTrue();
    assertThat(unit.at("/metadata/ownerReferences/0/kind").asText()).isEqualTo("Job");
    assertThat(unit.at("/spec/consumerRef/name").asText()).isEqualTo("sample");
    assertThat(unit.at("/spec/queue").asText()).isEqualTo("research");
    ObjectNode status = manifest(workloadOf(job()).admitted("spot").get()).status();
    assertThat(status.at("/status/admissions/0/replicas").asInt()).isEqualTo(3);
    assertThat(
            manifest(workloadOf(job()).condition("QuotaReserved", "False", "Pending", "why").get())
                .status()
                .at("/status/message")
                .asText())
        .isEqualTo("why");
    assertThat(manifest(workloadOf(job()).get()).object().at("/spec/queue").isMissingNode())
        .isTrue();
  }

  @Test
  void thePriorityAndActiveAreTakenFromPeople() {
    CachedWorkload workload = workloadOf(job()).get();
    ObjectNode unit = manifest(workload).object();
    assertThat(UnitEdit.patch(unit, workload)).isEmpty();

    ObjectNode higher = unit.deepCopy();
    higher.withObject("/spec").put("priority", 7);
    assertThat(UnitEdit.patch(higher, workload).orElseThrow().toString())
        .isEqualTo("{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/priority-boost\":\"7\"}}}");
    CachedWorkload boosted =
        workloadOf(job()).annotation("kueue.x-k8s.io/priority-boost", "7").get();
    assertThat(UnitEdit.patch(higher, boosted)).isEmpty();
    assertThat(manifest(boosted).object().at("/spec/priority").asInt()).isEqualTo(7);
    assertThat(UnitEdit.patch(unit, boosted)).as("behind, not edited").isEmpty();

    ObjectNode stopped = unit.deepCopy();
    stopped.withObject("/spec").put("active", false);
    assertThat(UnitEdit.patch(stopped, workload).orElseThrow().toString())
        .isEqualTo("{\"spec\":{\"active\":false}}");
  }

  /** What a boost can't make up for isn't tried again and again. */
  @Test
  void aPriorityThatIsOutOfReachIsComeCloseTo() {
    GivenWorkload low = workloadOf(job()).priority(-5);
    ObjectNode highest = manifest(low.get()).object();
    highest.withObject("/spec").put("priority", Integer.MAX_VALUE);
    String patch =
        "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/priority-boost\":\"2147483647\"}}}";
    assertThat(UnitEdit.patch(highest, low.get()).orElseThrow().toString()).isEqualTo(patch);
    assertThat(UnitEdit.ofForeign(highest, low.get()).orElseThrow().toString()).isEqualTo(patch);

    CachedWorkload boosted = low.annotation("kueue.x-k8s.io/priority-boost", "2147483647").get();
    assertThat(UnitEdit.patch(highest, boosted)).isEmpty();
    assertThat(UnitEdit.ofForeign(highest, boosted)).isEmpty();
  }

  @Test
  void namesEndWithTheSuffixOfTheKind() {
    assertThat(QueueUnits.name("Job", "a")).isEqualTo("a");
    assertThat(QueueUnits.name("TFJob", "a")).isEqualTo("a-tf-qu");
    assertThat(QueueUnits.name("PyTorchJob", "a")).isEqualTo("a-py-qu");
    assertThat(QueueUnits.name("RayCluster", "a")).isEqualTo("a-raycluster-qu");
    assertThat(QueueUnits.name("MPIJob", "a".repeat(253))).hasSize(253).endsWith("a-mpi-qu");
  }
}
