package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.EventRecorder.EventCounter;
import dev.sluice.kube.events.EventRecorder.EventSink;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventSeries;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class SchedulingEventRecorderTest {

  private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");
  private static final WorkloadId PREEMPTOR = new WorkloadId("p", "team", "urgent");

  private final List<Event> written = new CopyOnWriteArrayList<>();
  private final List<String> counted = new ArrayList<>();

  /** Keeps what is written. */
  private final class Sink implements EventSink {
    @Override
    public void create(Event event) {
      written.add(event);
    }

    @Override
    public void update(Event event, EventSeries series) {}
  }

  /** Counts nothing. */
  private static final class Uncounted implements EventCounter {
    @Override
    public void written() {}

    @Override
    public void aggregated() {}

    @Override
    public void dropped() {}

    @Override
    public void failed() {}
  }

  private static CachedWorkload running(String name) throws IOException {
    return workload(
        name, "\"admission\": {\"clusterQueue\": \"research\", \"podSetAssignments\": []}");
  }

  private static CachedWorkload workload(String name, String status) throws IOException {
    return new WorkloadParser()
        .parse(
            """
            {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
             "metadata": {"name": "%s", "namespace": "team", "uid": "%s", "resourceVersion": "7"},
             "spec": {"queueName": "q", "podSets": []},
             "status": {%s}}
            """
                .formatted(name, name, status)
                .getBytes(StandardCharsets.UTF_8));
  }

  /** The same time as metrics of the wait (the contract's page of metrics: creation or requeue). */
  @Test
  void theWaitForQuotaBeginsWhenTheWorkloadWasRequeued() throws IOException {
    CachedWorkload preempted =
        workload(
            "a",
            """
            "conditions": [{"type": "Requeued", "status": "True", "reason": "Preempted",
              "message": "", "lastTransitionTime": "2029-12-31T23:59:50Z"}]
            """);
    Instant created = Instant.parse("2029-12-01T00:00:00Z");
    Decision.Admit decision =
        new Decision.Admit(preempted.id(), 5, "research", List.of(), NOW, created, List.of());
    try (EventRecorder events =
        new EventRecorder(
            new Sink(), () -> NOW, "pod-1", EventRecorder.Budget.DEFAULT, new Uncounted())) {
      new SchedulingEventRecorder(events, () -> NOW, (queue, reason) -> {})
          .reserved(decision, preempted, false);
      await().untilAsserted(() -> assertThat(of("a")).hasSize(1));
    }
    assertThat(of("a").getFirst().getNote())
        .isEqualTo("Quota reserved in ClusterQueue research, wait time since queued was 10s");
  }

  @Test
  void thePreemptorHasOneEventForAllThatItPreemptsForOneReason() throws IOException {
    List<Decision.Target> targets =
        List.of(
            target("a", PreemptionReason.IN_CLUSTER_QUEUE),
            target("b", PreemptionReason.IN_CLUSTER_QUEUE),
            target("c", PreemptionReason.IN_COHORT_RECLAMATION));
    Decision.Preempt decision =
        new Decision.Preempt(PREEMPTOR, 5, "research", List.of("research"), 10, targets, NOW);
    try (EventRecorder events =
        new EventRecorder(
            new Sink(), () -> NOW, "pod-1", EventRecorder.Budget.DEFAULT, new Uncounted())) {
      SchedulingEventRecorder recorder =
          new SchedulingEventRecorder(
              events, () -> NOW, (queue, reason) -> counted.add(queue + " " + reason));
      for (Decision.Target target : targets) {
        recorder.preempted(
            decision, target, running(target.id().name()), "for urgent: " + target.id().name());
      }
      await().untilAsserted(() -> assertThat(of("b")).hasSize(2));
      await().untilAsserted(() -> assertThat(of("c")).hasSize(2));
      await().untilAsserted(() -> assertThat(of("p")).hasSizeGreaterThan(1));
    }

    // Several writers take the events: their order in the cluster is not promised.
    assertThat(of("p"))
        .extracting(Event::getReason, Event::getNote)
        .containsExactlyInAnyOrder(
            tuple(
                "PreemptedWorkload",
                "Preempted workloads, reason: InClusterQueue; the event Preempted of each names"
                    + " this one"),
            tuple(
                "PreemptedWorkload",
                "Preempted workloads, reason: InCohortReclamation; the event Preempted of each"
                    + " names this one"));
    assertThat(of("b"))
        .extracting(Event::getReason, Event::getNote)
        .containsExactlyInAnyOrder(
            tuple("Preempted", "for urgent: b"), tuple("EvictedDueToPreempted", "for urgent: b"));
    assertThat(counted)
        .containsExactly(
            "research InClusterQueue", "research InClusterQueue", "research InCohortReclamation");
  }

  private List<Event> of(String uid) {
    return written.stream().filter(event -> event.getRegarding().getUid().equals(uid)).toList();
  }

  private static Decision.Target target(String name, PreemptionReason reason) {
    return new Decision.Target(
        new WorkloadId(name, "team", name), 7, List.of("research"), -1, reason);
  }
}
