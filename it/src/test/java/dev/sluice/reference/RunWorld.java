package dev.sluice.reference;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.lab.audit.ObjectChange;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** The cluster at one moment of a history: what is declared, and what became of each Workload. */
record RunWorld(
    Map<String, ClusterQueueSpec> queues,
    Map<String, CohortSpec> cohorts,
    Map<LocalQueueId, LocalQueueSpec> localQueues,
    Map<String, RunWorkload> workloads) {

  static final RunWorld EMPTY = new RunWorld(Map.of(), Map.of(), Map.of(), Map.of());

  /** The world after a write; nothing in it is kept by reference that may change. */
  RunWorld after(ObjectChange objectChange) {
    return switch (objectChange.kind()) {
      case CLUSTER_QUEUE ->
          new RunWorld(
              with(
                  queues,
                  RunReading.name(objectChange.object()),
                  objectChange,
                  RunReading.clusterQueue(objectChange.object())),
              cohorts,
              localQueues,
              workloads);
      case COHORT ->
          new RunWorld(
              queues,
              with(
                  cohorts,
                  RunReading.name(objectChange.object()),
                  objectChange,
                  RunReading.cohort(objectChange.object())),
              localQueues,
              workloads);
      case LOCAL_QUEUE -> {
        LocalQueueSpec queue = RunReading.localQueue(objectChange.object());
        yield new RunWorld(
            queues, cohorts, with(localQueues, queue.id(), objectChange, queue), workloads);
      }
      case WORKLOAD ->
          new RunWorld(
              queues,
              cohorts,
              localQueues,
              with(
                  workloads,
                  RunReading.uid(objectChange.object()),
                  objectChange,
                  RunReading.workload(objectChange.object())));
      case JOB, POD -> this;
    };
  }

  private static <K, V> Map<K, V> with(Map<K, V> map, K key, ObjectChange objectChange, V value) {
    Map<K, V> copy = new TreeMap<>(map);
    if (objectChange.deleted()) {
      copy.remove(key);
    } else {
      copy.put(key, value);
    }
    return copy;
  }

  /** The same world, in which these who wait there hold quota already. */
  RunWorld with(Map<String, RunWorkload> soon) {
    Map<String, RunWorkload> then = new TreeMap<>(workloads);
    soon.forEach((uid, holder) -> then.computeIfPresent(uid, (any, waiting) -> holder));
    return new RunWorld(queues, cohorts, localQueues, then);
  }

  /** The ClusterQueue that a Workload waits in; empty when nobody knows. */
  String queueOf(RunWorkload workload) {
    LocalQueueSpec queue = localQueues.get(workload.localQueue());
    return queue == null ? "" : queue.clusterQueue();
  }

  /** Whether a Workload waits, and not in a LocalQueue that is on hold. */
  boolean mayStart(RunWorkload workload) {
    LocalQueueSpec queue = localQueues.get(workload.localQueue());
    return workload.waits() && queue != null && queue.stopPolicy() == StopPolicy.NONE;
  }

  /** The same as it is declared. */
  Optional<ClusterQueueSpec> queueSpecOf(RunWorkload workload) {
    return Optional.ofNullable(queues.get(queueOf(workload)));
  }

  /** The quota tree as declared here, with what these Workloads hold. */
  ReferenceTree tree(Map<String, RunWorkload> holders) {
    ReferenceTree tree = new ReferenceTree(queues, cohorts);
    for (RunWorkload each : holders.values()) {
      if (each.holds()) {
        tree.add(each.clusterQueue(), ReferenceEntry.usage(each.podSets()));
      }
    }
    return tree;
  }

  ReferenceTree tree() {
    return tree(workloads);
  }

  /**
   * What is wrong with a world in which nothing happens any more: somebody waits who fits, the
   * naive engine would admit somebody, or somebody at the head of a StrictFIFO queue could preempt.
   * Who waits in a BestEffortFIFO queue isn't looked at when others begin to borrow.
   */
  List<String> unrest(Instant now, Optional<FairSharing> sharing) {
    ReferenceEngine engine =
        new ReferenceEngine(
            Duration.ofSeconds(10),
            ReferenceEngine.Waking.ALL,
            32,
            true,
            new EngineOptions(sharing, false));
    facts(now).forEach(engine::fold);
    List<String> found = new ArrayList<>();
    try {
      new WaitingChecks(engine.questions()).checkQuiescence();
    } catch (AssertionError e) {
      found.add("" + e.getMessage());
    }
    Set<String> seen = new HashSet<>();
    while (seen.add(engine.questions().state())) {
      engine.cycle().stream()
          .filter(this::isDue)
          .forEach(each -> found.add("the naive engine would do: " + each));
    }
    return found;
  }

  private boolean isDue(Decided decided) {
    ClusterQueueSpec queue = queues.get(decided.clusterQueue());
    return decided instanceof Decided.Admission
        || (queue != null && queue.strategy() == ClusterQueueSpec.QueueingStrategy.STRICT_FIFO);
  }

  private List<SchedulerEvent> facts(Instant now) {
    List<SchedulerEvent> schedulerEvents = new ArrayList<>();
    schedulerEvents.add(new SchedulerEvent.TimePassed(now));
    schedulerEvents.add(new SchedulerEvent.DecidingEnabled(true));
    Set<String> flavors = new HashSet<>();
    queues.values().stream()
        .flatMap(queue -> queue.groups().stream())
        .flatMap(group -> group.flavors().stream())
        .forEach(flavor -> flavors.add(flavor.flavor()));
    flavors.forEach(
        name ->
            schedulerEvents.add(
                new SchedulerEvent.FlavorChanged(
                    new Flavor(name, Map.of(), List.of(), List.of()))));
    cohorts.values().forEach(each -> schedulerEvents.add(new SchedulerEvent.CohortChanged(each)));
    queues
        .values()
        .forEach(each -> schedulerEvents.add(new SchedulerEvent.ClusterQueueChanged(each)));
    localQueues
        .values()
        .forEach(each -> schedulerEvents.add(new SchedulerEvent.LocalQueueChanged(each)));
    workloads.values().stream()
        .map(each -> each.id().namespace())
        .distinct()
        .forEach(each -> schedulerEvents.add(new SchedulerEvent.NamespaceChanged(each, Map.of())));
    for (RunWorkload each : workloads.values()) {
      if (each.holds()) {
        schedulerEvents.add(new SchedulerEvent.WorkloadReserving(each.reserving()));
      } else if (each.waits()) {
        schedulerEvents.add(new SchedulerEvent.WorkloadPending(each.pending()));
      }
    }
    return schedulerEvents;
  }
}
