package dev.sluice.kubequeue;

import static dev.sluice.jobs.GivenObject.podSets;
import static dev.sluice.jobs.GivenObject.started;
import static dev.sluice.jobs.GivenObject.status;
import static dev.sluice.jobs.GivenObject.stopped;
import static dev.sluice.jobs.GivenObject.with;
import static dev.sluice.jobs.GivenObject.yaml;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.testing.Mutations;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** QueueUnits of extensions as their integration sees them. */
class ForeignQueueUnitTest {

  private static final InformerCaches CACHES = InformerCaches.empty(BuiltInCheckControllers.all());

  private static final ForeignQueueUnit KIND =
      new ForeignQueueUnit(
          (apiVersion, kind) -> kind.equals("TFJob"),
          InstantSource.fixed(Instant.parse("2026-03-01T10:00:00.5Z")));

  private static final ObjectNode UNIT =
      yaml(
          """
          apiVersion: scheduling.x-k8s.io/v1alpha1
          kind: QueueUnit
          metadata: {name: u, namespace: team, uid: u, annotations: {a: b}}
          spec:
            consumerRef: {apiVersion: v1, kind: ConfigMap, name: u}
            priority: 5
            priorityClassName: high
            request: {cpu: 2, memory: 1Gi}
            resource: {cpu: 9}
          status: {}
          """);

  private static ObjectNode inPhase(String phase, boolean marked) {
    ObjectNode unit = status(UNIT, "{phase: '%s'}".formatted(phase));
    return marked ? with(unit, "{metadata: {annotations: {sluice.dev/started: 'true'}}}") : unit;
  }

  @ParameterizedTest
  @CsvSource({
    "'',             true,  false, false",
    "Enqueued,       true,  false, false",
    "Reserved,       true,  false, false",
    "Dequeued,       false, true,  false",
    "SchedSucceed,   false, true,  false",
    "Running,        false, true,  true",
    "TimeoutBackoff, true,  false, false",
    "Backoff,        true,  false, false",
    "Preempted,      true,  true,  false",
    "Succeed,        false, false, true",
    "Failed,         false, false, true",
  })
  void thePhaseTellsTheState(String phase, boolean suspended, boolean active, boolean ready) {
    JobState state = KIND.state(inPhase(phase, false));
    assertThat(state.suspended()).isEqualTo(suspended);
    assertThat(state.active()).isEqualTo(active);
    assertThat(state.podsReady()).isEqualTo(ready);
    assertThat(state.settled()).isEqualTo(suspended && !active);
    assertThat(state.stopUnfinished()).isFalse();
    assertThat(state.handling().hold().isPresent()).isEqualTo(phase.endsWith("Backoff"));
    assertThat(state.end().map(JobState.End::succeeded))
        .isEqualTo(
            switch (phase) {
              case "Succeed" -> Optional.of(true);
              case "Failed" -> Optional.of(false);
              default -> Optional.empty();
            });
  }

  @Test
  void aStartedUnitThatIsEnqueuedAgainGaveItsQuotaBack() {
    JobState state = KIND.state(inPhase("Enqueued", true));
    assertThat(state.stopUnfinished()).isTrue();
    assertThat(state.handling().hold()).isPresent();
    assertThat(KIND.state(inPhase("Preempted", true)).handling().hold()).isEmpty();
    assertThat(KIND.neverStarted(inPhase("Enqueued", true))).isFalse();
    assertThat(KIND.neverStarted(inPhase("Enqueued", false))).isTrue();
    assertThat(KIND.neverStarted(inPhase("TimeoutBackoff", false))).isFalse();
  }

  @Test
  void aStartIsThePhaseDequeuedAndAStopThePhasePreempted() throws StartConflictException {
    ObjectNode started = started(KIND, UNIT);
    assertThat(started.at("/status/phase").asText()).isEqualTo("Dequeued");
    assertThat(started.at("/status/attempts").asInt()).isEqualTo(1);
    assertThat(started.at("/status/lastUpdateTime").asText()).isEqualTo("2026-03-01T10:00:00Z");
    assertThat(started.at("/status/admissions/0/replicas").asInt()).isEqualTo(1);
    assertThat(KIND.state(started).suspended()).isFalse();

    ObjectNode stopped = stopped(KIND, started, Optional.empty());
    assertThat(stopped.at("/status/phase").asText()).isEqualTo("Preempted");
    assertThat(stopped.at("/status/admissions").isEmpty()).isTrue();
    assertThat(stopped.path("metadata")).isEqualTo(UNIT.path("metadata"));
    assertThat(stopped.path("spec")).isEqualTo(UNIT.path("spec"));
  }

  @Test
  void podSetsComeFromTheSpecElseOnePodAsksForAll() {
    assertThat(podSets(KIND, UNIT)).containsExactly("main=1");
    assertThat(
            KIND.podSets(UNIT)
                .getFirst()
                .template()
                .at("/spec/containers/0/resources/requests")
                .toString())
        .isEqualTo("{\"cpu\":\"2\",\"memory\":\"1Gi\"}");
    assertThat(KIND.priorityClass(UNIT)).isEqualTo("high");
    ObjectNode sets =
        with(UNIT, "{spec: {podSet: [{name: ps, count: 1}, {name: worker, count: 4}]}}");
    assertThat(podSets(KIND, sets)).containsExactly("ps=1", "worker=4");
    ObjectNode older = UNIT.deepCopy();
    older.withObject("/spec").remove("request");
    assertThat(
            KIND.podSets(older)
                .getFirst()
                .template()
                .at("/spec/containers/0/resources/requests/cpu")
                .asText())
        .isEqualTo("9");
  }

  @Test
  void unitsThatShowWorkloadsAndUnitsOfJobsThatAreQueuedThemselvesAreLeftAlone() {
    assertThat(KIND.isManageable(UNIT)).isTrue();
    assertThat(KIND.isManageable(with(UNIT, "{metadata: {labels: {sluice.dev/mirror: 'true'}}}")))
        .isFalse();
    assertThat(KIND.isManageable(with(UNIT, "{spec: {consumerRef: {kind: TFJob}}}"))).isFalse();
  }

  @Test
  void aUnitSaysThePriorityOfItsWorkloadAndWhetherItIsActive() {
    CachedWorkload workload = workloadOf(GivenJob.job()).get();
    assertThat(UnitEdit.ofForeign(with(UNIT, "{spec: {priority: 0}}"), workload, CACHES).patch())
        .isEmpty();
    assertThat(UnitEdit.ofForeign(UNIT, workload, CACHES).patch())
        .contains(yaml("{metadata: {annotations: {kueue.x-k8s.io/priority-boost: '5'}}}"));
    assertThat(
            UnitEdit.ofForeign(with(UNIT, "{spec: {priority: 0, active: false}}"), workload, CACHES)
                .patch())
        .contains(
            yaml(
                "{metadata: {annotations: {sluice.dev/inactive-by-unit: 'true'}},"
                    + " spec: {active: false}}"));
    assertThat(
            UnitEdit.ofForeign(with(UNIT, "{spec: {priority: 0, active: true}}"), workload, CACHES)
                .patch())
        .isEmpty();
  }

  /** Nothing that a stranger writes may make a reader of units throw. */
  @Test
  void hostileUnitsAreReadToTheEnd() throws StartConflictException {
    CachedWorkload workload = workloadOf(GivenJob.job()).get();
    ObjectNode sample =
        with(
            inPhase("Running", true),
            """
            {metadata: {annotations: {sluice.dev/shown: 'priority=5,active=true'}},
             spec: {active: false, podSet: [{name: w, count: 3, template: {spec: {}}}]},
             status: {attempts: 3, admissions: [{name: w, replicas: 3}]}}
            """);
    int fed = 0;
    for (ObjectNode honest : List.of(UNIT, sample)) {
      for (long seed = 1; seed <= 2000; seed++) {
        ObjectNode unit = new Mutations(seed).of(honest);
        if (unit.get("metadata") instanceof ObjectNode metadata) {
          metadata.remove(List.of("creationTimestamp", "deletionTimestamp"));
        }
        if (isTooDeep(unit)) {
          continue;
        }
        fed++;
        assertThat(CachedJobParser.of(KIND, unit)).isNotNull();
        assertThat(KIND.start(unit, List.of())).hasSize(2);
        assertThat(KIND.nextStopStep(unit, Optional.empty())).isNotNull();
        assertThat(KIND.neverStarted(unit)).isIn(true, false);
        assertThat(UnitEdit.of(unit, workload, CACHES).patch()).isNotNull();
        assertThat(UnitEdit.ofForeign(unit, workload, CACHES).patch()).isNotNull();
      }
    }
    assertThat(fed).isGreaterThan(3000);
  }

  /** An object that is nested so deeply that no API server would have taken it. */
  private static boolean isTooDeep(ObjectNode unit) {
    try {
      return unit.toString().isEmpty();
    } catch (RuntimeException tooDeep) {
      return true;
    }
  }
}
