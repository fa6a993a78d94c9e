package dev.sluice.kubequeue;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.workload.record.CachedWorkload;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the QueueUnit of a Workload shows, and what of it people may change. */
class QueueUnitManifestTest {

  private static final InformerCaches CACHES = InformerCaches.empty(BuiltInCheckControllers.all());

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
    assertThat(UnitEdit.of(unit, workload, CACHES).patch()).isEmpty();

    ObjectNode higher = unit.deepCopy();
    higher.withObject("/spec").put("priority", 7);
    assertThat(UnitEdit.of(higher, workload, CACHES).patch().orElseThrow().toString())
        .isEqualTo("{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/priority-boost\":\"7\"}}}");
    CachedWorkload boosted =
        workloadOf(job()).annotation("kueue.x-k8s.io/priority-boost", "7").get();
    assertThat(UnitEdit.of(higher, boosted, CACHES).patch()).isEmpty();
    assertThat(manifest(boosted).object().at("/spec/priority").asInt()).isEqualTo(7);
    assertThat(UnitEdit.of(unit, boosted, CACHES).patch()).as("behind, not edited").isEmpty();

    ObjectNode stopped = unit.deepCopy();
    stopped.withObject("/spec").put("active", false);
    assertThat(UnitEdit.of(stopped, workload, CACHES).patch().orElseThrow().toString())
        .isEqualTo("{\"spec\":{\"active\":false}}");
  }

  private static WorkloadPriorityClass priorityClass(String name, int value) {
    WorkloadPriorityClass result = new WorkloadPriorityClass();
    result.setMetadata(new ObjectMetaBuilder().withName(name).build());
    result.setValue(value);
    return result;
  }

  private static InformerCaches withClasses() {
    InformerCaches caches = InformerCaches.empty(BuiltInCheckControllers.all());
    WorkloadPriorityClass restricted = priorityClass("urgent", 100);
    restricted.getMetadata().setAnnotations(Map.of("sluice.dev/allowed-users", "ann"));
    caches.workloadPriorityClasses().put("urgent", restricted);
    caches.workloadPriorityClasses().put("open", priorityClass("open", 50));
    return caches;
  }

  /**
   * Changes of 0.20, section 7: whoever may update is judged like whoever creates. Nobody judges an
   * edit of a unit, so that it doesn't reach a class that isn't for everybody.
   */
  @ParameterizedTest
  @CsvSource({
    "0,    99,  99",
    "0,   100,  refused",
    "0,   101,  refused",
    "120, 110,  110",
    "120, 121,  refused"
  })
  void theUnitDoesNotGiveThePriorityOfAClassThatIsNotForEverybody(
      int boost, int wanted, String given) {
    GivenWorkload workload = workloadOf(job());
    if (boost > 0) {
      workload.annotation("kueue.x-k8s.io/priority-boost", Integer.toString(boost));
    }
    ObjectNode unit = manifest(workload.get()).object();
    unit.withObject("/spec").put("priority", wanted).put("active", false);
    for (UnitEdit edit :
        List.of(
            UnitEdit.of(unit, workload.get(), withClasses()),
            UnitEdit.ofForeign(unit, workload.get(), withClasses()))) {
      boolean refused = given.equals("refused");
      assertThat(edit.restricted()).isEqualTo(refused ? Set.of("urgent") : Set.of());
      ObjectNode patch = edit.patch().orElseThrow();
      assertThat(patch.at("/metadata/annotations/kueue.x-k8s.io~1priority-boost").asText())
          .isEqualTo(refused ? "" : given);
      assertThat(patch.at("/spec/active").asBoolean(true)).as("is for everybody").isFalse();
      assertThat(edit.refusal("u").isPresent()).isEqualTo(refused);
    }
  }

  /** What a boost can't make up for isn't tried again and again. */
  @Test
  void aPriorityThatIsOutOfReachIsComeCloseTo() {
    GivenWorkload low = workloadOf(job()).priority(-5);
    ObjectNode highest = manifest(low.get()).object();
    highest.withObject("/spec").put("priority", Integer.MAX_VALUE);
    String patch =
        "{\"metadata\":{\"annotations\":{\"kueue.x-k8s.io/priority-boost\":\"2147483647\"}}}";
    assertThat(UnitEdit.of(highest, low.get(), CACHES).patch().orElseThrow().toString())
        .isEqualTo(patch);
    assertThat(UnitEdit.ofForeign(highest, low.get(), CACHES).patch().orElseThrow().toString())
        .isEqualTo(patch);

    CachedWorkload boosted = low.annotation("kueue.x-k8s.io/priority-boost", "2147483647").get();
    assertThat(UnitEdit.of(highest, boosted, CACHES).patch()).isEmpty();
    assertThat(UnitEdit.ofForeign(highest, boosted, CACHES).patch()).isEmpty();
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
