package dev.sluice.reference;

import dev.sluice.cli.audit.Change;
import dev.sluice.engine.EngineRules;
import dev.sluice.model.ClusterQueueSpec;
import dev.sluice.model.CohortSpec;
import dev.sluice.model.Fact;
import dev.sluice.model.FairSharing;
import dev.sluice.model.Flavor;
import dev.sluice.model.LocalQueueId;
import dev.sluice.model.LocalQueueSpec;
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
  RunWorld after(Change change) {
    return switch (change.kind()) {
      case CLUSTER_QUEUE ->
          new RunWorld(
              with(
                  queues,
                  RunReading.name(change.object()),
                  change,
                  RunReading.clusterQueue(change.object())),
              cohorts,
              localQueues,
              workloads);
      case COHORT ->
          new RunWorld(
              queues,
              with(
                  cohorts,
                  RunReading.name(change.object()),
                  change,
                  RunReading.cohort(change.object())),
              localQueues,
              workloads);
      case LOCAL_QUEUE -> {
        LocalQueueSpec queue = RunReading.localQueue(change.object());
        yield new RunWorld(
            queues, cohorts, with(localQueues, queue.id(), change, queue), workloads);
      }
      case WORKLOAD ->
          new RunWorld(
              queues,
              cohorts,
              localQueues,
              with(
                  workloads,
                  RunReading.uid(change.object()),
                  change,
                  RunReading.workload(change.object())));
      case JOB, POD -> this;
    };
  }

  private static <K, V> Map<K, V> with(Map<K, V> map, K key, Change change, V value) {
    Map<K, V> copy = new TreeMap<>(map);
    if (change.deleted()) {
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
            new EngineRules(sharing, false));
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

  private List<Fact> facts(Instant now) {
    List<Fact> facts = new ArrayList<>();
    facts.add(new Fact.TimePassed(now));
    facts.add(new Fact.DecidingEnabled(true));
    Set<String> flavors = new HashSet<>();
    queues.values().stream()
        .flatMap(queue -> queue.groups().stream())
        .flatMap(group -> group.flavors().stream())
        .forEach(flavor -> flavors.add(flavor.flavor()));
    flavors.forEach(
        name ->
            facts.add(new Fact.FlavorChanged(new Flavor(name, Map.of(), List.of(), List.of()))));
    cohorts.values().forEach(each -> facts.add(new Fact.CohortChanged(each)));
    queues.values().forEach(each -> facts.add(new Fact.ClusterQueueChanged(each)));
    localQueues.values().forEach(each -> facts.add(new Fact.LocalQueueChanged(each)));
    workloads.values().stream()
        .map(each -> each.id().namespace())
        .distinct()
        .forEach(each -> facts.add(new Fact.NamespaceChanged(each, Map.of())));
    for (RunWorkload each : workloads.values()) {
      if (each.holds()) {
        facts.add(new Fact.WorkloadReserving(each.reserving()));
      } else if (each.waits()) {
        facts.add(new Fact.WorkloadPending(each.pending()));
      }
    }
    return facts;
  }
}
