package dev.sluice.core.engine;

import dev.sluice.core.backfill.BackfillExport;
import dev.sluice.core.engine.EngineState.ClusterQueueExport;
import dev.sluice.core.engine.EngineState.LocalQueueExport;
import dev.sluice.core.engine.EngineState.SliceExport;
import dev.sluice.core.engine.EngineState.SpecsExport;
import dev.sluice.core.engine.EngineState.WorkloadsExport;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.waiting.WaitingExport;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The part of a state that decides on one quota tree. Trees are independent of each other, except
 * where they have the same nodes: then all trees with such nodes stay together.
 */
final class StateOfTrees {

  private final EngineState state;
  private final Map<String, String> parents = new HashMap<>();
  private final Set<String> roots = new HashSet<>();
  private final Set<String> queues = new HashSet<>();
  private final Set<LocalQueueId> localQueues = new HashSet<>();
  private final Set<String> uids = new HashSet<>();

  private StateOfTrees(EngineState state) {
    this.state = state;
    for (CohortSpec cohort : state.specs().cohorts()) {
      parents.put(cohort.name(), cohort.parent());
    }
  }

  /** The part of a state that decides on the tree with this root. */
  static EngineState of(EngineState state, String root) {
    if (state.options().blockAdmission()) {
      return state; // Workloads of all trees wait for the same pods.
    }
    StateOfTrees part = new StateOfTrees(state);
    part.select(root);
    return new EngineState(
        state.options(),
        state.now(),
        state.deciding(),
        part.specs(),
        keep(state.clusterQueues(), part.queues, ClusterQueueExport::name),
        part.localQueues(),
        part.workloads(),
        part.waiting());
  }

  private void select(String root) {
    roots.add(root);
    addQueues();
    boolean aware =
        state.clusterQueues().stream()
            .anyMatch(queue -> queues.contains(queue.name()) && queue.topologyAware());
    if (aware) {
      Set<String> placed = new HashSet<>();
      for (WorkloadExport workload : state.workloads().workloads()) {
        workload
            .reservation()
            .filter(reservation -> reservation.holder().places().isPresent())
            .ifPresent(reservation -> placed.add(reservation.clusterQueue()));
      }
      for (ClusterQueueExport queue : state.clusterQueues()) {
        if (queue.topologyAware() || placed.contains(queue.name())) {
          roots.add(rootOf(queue));
        }
      }
      addQueues();
    }
    Map<LocalQueueId, String> fed = new HashMap<>();
    for (LocalQueueExport queue : state.localQueues()) {
      queue.spec().map(LocalQueueSpec::clusterQueue).ifPresent(name -> fed.put(queue.id(), name));
      if (queues.contains(fed.getOrDefault(queue.id(), ""))) {
        localQueues.add(queue.id());
      }
    }
    for (WorkloadExport workload : state.workloads().workloads()) {
      LocalQueueId localQueue = new LocalQueueId(workload.id().namespace(), workload.queueName());
      String queue =
          workload
              .reservation()
              .map(WorkloadExport.ReservationExport::clusterQueue)
              .orElse(fed.getOrDefault(localQueue, ""));
      if (queues.contains(queue)) {
        uids.add(workload.id().uid());
        localQueues.add(localQueue);
      }
    }
    for (ClusterQueueExport queue : state.clusterQueues()) {
      if (queues.contains(queue.name())) {
        queue
            .pending()
            .classes()
            .forEach(each -> each.members().forEach(member -> uids.add(member.id().uid())));
      }
    }
  }

  private void addQueues() {
    for (ClusterQueueExport queue : state.clusterQueues()) {
      if (roots.contains(rootOf(queue))) {
        queues.add(queue.name());
      }
    }
  }

  /** The roots of the trees of all ClusterQueues of a state, by the name of the ClusterQueue. */
  static Map<String, WaitingExport.TreeRoot> rootsOf(EngineState state) {
    StateOfTrees trees = new StateOfTrees(state);
    Map<String, WaitingExport.TreeRoot> roots = new HashMap<>();
    for (ClusterQueueExport queue : state.clusterQueues()) {
      String cohort = trees.rootCohortOf(queue);
      roots.put(
          queue.name(),
          new WaitingExport.TreeRoot(cohort.isEmpty() ? queue.name() : cohort, cohort.isEmpty()));
    }
    return roots;
  }

  /** The root of a queue's tree: the queue itself if it has no cohort, or one in a circle. */
  private String rootOf(ClusterQueueExport queue) {
    String root = rootCohortOf(queue);
    return root.isEmpty() ? queue.name() : root;
  }

  /** The cohort at the root of a queue's tree; empty if it has none, or one in a circle. */
  private String rootCohortOf(ClusterQueueExport queue) {
    String cohort = queue.spec().map(spec -> spec.cohort()).orElse("");
    return cohort.isEmpty() ? "" : rootOf(cohort);
  }

  /** The root above a cohort; empty if its parents form a circle. */
  private String rootOf(String cohort) {
    Set<String> chain = new HashSet<>();
    String name = cohort;
    while (chain.add(name)) {
      String parent = parents.getOrDefault(name, "");
      if (parent.isEmpty()) {
        return name;
      }
      name = parent;
    }
    return "";
  }

  private static <T, K> List<T> keep(List<T> all, Set<K> kept, Function<T, K> key) {
    return all.stream().filter(each -> kept.contains(key.apply(each))).toList();
  }

  private SpecsExport specs() {
    SpecsExport specs = state.specs();
    return new SpecsExport(
        specs.pairs(),
        specs.flavors(),
        specs.topologies(),
        specs.namespaces(),
        specs.cohorts().stream().filter(each -> roots.contains(rootOf(each.name()))).toList(),
        keep(specs.declaredLocalQueues(), localQueues, id -> id),
        keep(specs.freed(), localQueues, id -> id),
        specs.rebuildDue());
  }

  private List<LocalQueueExport> localQueues() {
    return keep(state.localQueues(), localQueues, LocalQueueExport::id).stream()
        .map(
            queue ->
                new LocalQueueExport(
                    queue.id(),
                    queue.spec(),
                    keep(queue.unqueued(), uids, uid -> uid),
                    queue.usage(),
                    queue.history(),
                    queue.reportedUsage()))
        .toList();
  }

  private WorkloadsExport workloads() {
    WorkloadsExport all = state.workloads();
    return new WorkloadsExport(
        keep(all.workloads(), uids, workload -> workload.id().uid()),
        keep(all.timers(), uids, EngineState.TimerExport::uid),
        keep(all.slices(), uids, SliceExport::uid),
        keep(all.replacements(), uids, SliceExport::uid),
        keep(all.secondPasses(), uids, EngineState.SecondPassExport::uid),
        keep(all.unreported(), uids, uid -> uid),
        all.budgets(),
        new BackfillExport(
            keep(all.backfill().bounds(), uids, BackfillExport.BoundExport::uid),
            keep(all.backfill().plans(), queues, BackfillExport.QueueExport::clusterQueue),
            keep(all.backfill().trees(), roots, BackfillExport.TreeExport::root),
            all.backfill().changed(),
            all.backfill().next(),
            all.backfill().passes()));
  }

  private WaitingExport waiting() {
    WaitingExport all = state.waiting();
    WaitingExport.ActiveQueuesExport active = all.activeQueues();
    WaitingExport.InadmissibleExport inadmissible = all.inadmissible();
    WaitingExport.GatedWorkloadsExport gatedWorkloads = all.gatedWorkloads();
    Predicate<WaitingExport.TreeRoot> isKept = root -> roots.contains(root.name());
    return new WaitingExport(
        all.cycle(),
        new WaitingExport.ActiveQueuesExport(
            keep(active.ready(), queues, name -> name),
            keep(active.blocked(), queues, WaitingExport.BlockExport::clusterQueue),
            keep(active.claims(), queues, name -> name),
            keep(active.limited(), queues, name -> name),
            active.changes().stream().filter(each -> isKept.test(each.root())).toList(),
            active.changesOfAll(),
            keep(active.rounds(), queues, WaitingExport.RoundExport::clusterQueue),
            new WaitingExport.SkippedExport(
                keep(active.skipped().queues(), queues, WaitingExport.SkippedQueue::clusterQueue),
                active.skipped().changed().stream().filter(isKept).toList())),
        new WaitingExport.InadmissibleExport(
            inadmissible.trees().stream().filter(each -> isKept.test(each.root())).toList(),
            inadmissible.treesWithEvents().stream().filter(isKept).toList()),
        new WaitingExport.GatedWorkloadsExport(
            keep(gatedWorkloads.gated(), queues, WaitingExport.GatedExport::clusterQueue),
            keep(gatedWorkloads.ungated(), queues, WaitingExport.GatedExport::clusterQueue),
            keep(gatedWorkloads.returned(), queues, WaitingExport.GatedExport::clusterQueue),
            gatedWorkloads.treesLookedAt().stream().filter(isKept).toList()),
        keep(all.attempts(), queues, WaitingExport.AttemptsExport::clusterQueue),
        all.gate(),
        keep(all.preemptions(), queues, WaitingExport.PreemptionExport::clusterQueue));
  }
}
