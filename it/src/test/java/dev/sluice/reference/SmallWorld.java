package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.reference.Decided.Preemption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A few queues with one resource, and who runs and waits in them, told in single lines. */
abstract class SmallWorld {

  static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  final ReferenceEngine engine;
  private long version = 1;
  int second;

  SmallWorld() {
    this(32, ReferenceEngine.Waking.ALL);
  }

  /**
   * @param longestWalk how often in a row a Workload is looked at because of untried flavors
   */
  SmallWorld(int longestWalk, ReferenceEngine.Waking waking) {
    engine = new ReferenceEngine(Duration.ofSeconds(10), waking, longestWalk, true);
    engine.fold(new SchedulerEvent.TimePassed(START));
    engine.fold(new SchedulerEvent.DecidingEnabled(true));
    engine.fold(new SchedulerEvent.NamespaceChanged("ns", Map.of()));
    for (String flavor : List.of("f", "g")) {
      engine.fold(
          new SchedulerEvent.FlavorChanged(new Flavor(flavor, Map.of(), List.of(), List.of())));
    }
  }

  /** The victims of the one preemption of the next cycle. */
  Map<String, PreemptionReason> victims(String preemptor) {
    List<Decided> decided = engine.cycle();
    assertThat(decided).hasSize(1).hasOnlyElementsOfType(Preemption.class);
    Preemption preemption = (Preemption) decided.getFirst();
    assertThat(preemption.id().uid()).isEqualTo(preemptor);
    return preemption.victims().entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, each -> each.getValue().reason()));
  }

  static PreemptionPolicies policies(WithinClusterQueue within, ReclaimWithinCohort reclaim) {
    return new PreemptionPolicies(within, reclaim, false, OptionalInt.empty());
  }

  static ResourceGroup.FlavorQuotas flavor(String name, long nominal) {
    return new ResourceGroup.FlavorQuotas(
        name,
        Map.of("cpu", new Quota(nominal, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED)));
  }

  void queue(
      String name,
      String cohort,
      PreemptionPolicies preemption,
      ResourceGroup.FlavorQuotas... flavors) {
    queue(name, cohort, preemption, FlavorFungibility.DEFAULT, flavors);
  }

  void queue(
      String name,
      String cohort,
      PreemptionPolicies preemption,
      FlavorFungibility fungibility,
      ResourceGroup.FlavorQuotas... flavors) {
    queue(name, cohort, QueueingStrategy.BEST_EFFORT_FIFO, preemption, fungibility, flavors);
  }

  /** One without a cohort that preempts nobody, and whose head blocks those behind. */
  void strictQueue(String name, ResourceGroup.FlavorQuotas... flavors) {
    strictQueueOf(name, "", flavors);
  }

  /** The same in a cohort. */
  void strictQueueOf(String name, String cohort, ResourceGroup.FlavorQuotas... flavors) {
    queue(
        name,
        cohort,
        QueueingStrategy.STRICT_FIFO,
        PreemptionPolicies.NEVER,
        FlavorFungibility.DEFAULT,
        flavors);
  }

  private void queue(
      String name,
      String cohort,
      QueueingStrategy strategy,
      PreemptionPolicies preemption,
      FlavorFungibility fungibility,
      ResourceGroup.FlavorQuotas... flavors) {
    engine.fold(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                name,
                cohort,
                List.of(new ResourceGroup(List.of("cpu"), List.of(flavors))),
                strategy,
                new LabelSelector.Requirements(List.of()),
                StopPolicy.NONE,
                false,
                preemption,
                fungibility,
                List.of(),
                List.of())));
    engine.fold(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("ns", name), name, StopPolicy.NONE)));
  }

  void cohort(String name, String parent) {
    engine.fold(new SchedulerEvent.CohortChanged(new CohortSpec(name, parent, new ArrayList<>())));
  }

  static WorkloadId id(String uid) {
    return new WorkloadId(uid, "ns", uid);
  }

  void running(String uid, String queue, long amount, long priority) {
    running(uid, queue, amount, priority, false);
  }

  void running(String uid, String queue, long amount, long priority, boolean evicted) {
    runningIn(uid, queue, "f", amount, priority, evicted);
  }

  void runningIn(
      String uid, String queue, String flavor, long amount, long priority, boolean evicted) {
    Instant when = START.plusSeconds(++second);
    engine.fold(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                id(uid),
                version++,
                queue,
                queue,
                List.of(
                    new PodSetAssignment(
                        "main",
                        new TreeMap<>(Map.of("cpu", flavor)),
                        new TreeMap<>(Map.of("cpu", amount)),
                        1)),
                priority,
                when,
                evicted,
                true,
                true,
                when)));
  }

  void submit(String uid, String queue, long amount, long priority) {
    submit(uid, queue, amount, priority, START.plusSeconds(++second));
  }

  void submit(String uid, String queue, long amount, long priority, Instant queuedAt) {
    submit(uid, queue, RandomWorld.single("cpu", amount), priority, queuedAt);
  }

  void submit(String uid, String queue, RequestShape shape, long priority, Instant queuedAt) {
    engine.fold(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                id(uid),
                version++,
                queue,
                shape,
                priority,
                queuedAt,
                queuedAt,
                Optional.empty(),
                false,
                Optional.empty())));
  }

  void finish(String uid) {
    engine.fold(new SchedulerEvent.WorkloadReleased(id(uid), version++));
  }
}
