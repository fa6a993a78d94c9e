package dev.sluice.core.engine;

import dev.sluice.core.backfill.BackfillExport;
import dev.sluice.core.engine.EngineState.ClusterQueueExport;
import dev.sluice.core.engine.EngineState.LocalQueueExport;
import dev.sluice.core.engine.EngineState.SliceExport;
import dev.sluice.core.engine.EngineState.SpecsExport;
import dev.sluice.core.engine.EngineState.WorkloadsExport;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.queue.PendingQueueExport;
import dev.sluice.core.topology.TopologyExport;
import dev.sluice.core.waiting.WaitingExport;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The whole state of an {@link Engine} as an immutable value (docs/engine-state.md): an engine that
 * is restored from it makes the same decisions as the one that exported it, for the same events.
 * What only makes decisions faster is not part of it.
 *
 * @param options the options of the engine
 * @param now the time of the last event that says it
 * @param deciding whether the engine decides
 * @param specs what is declared beside queues
 * @param clusterQueues the ClusterQueues, in the order in which their names became known
 * @param localQueues the LocalQueues, in the order in which their names became known
 * @param workloads the Workloads, except for those of which the queues know everything
 * @param waiting which queued Workload is evaluated next
 */
public record EngineState(
    EngineOptions options,
    Instant now,
    boolean deciding,
    SpecsExport specs,
    List<ClusterQueueExport> clusterQueues,
    List<LocalQueueExport> localQueues,
    WorkloadsExport workloads,
    WaitingExport waiting) {

  public EngineState {
    clusterQueues = List.copyOf(clusterQueues);
    localQueues = List.copyOf(localQueues);
  }

  /**
   * The part of the state that decides on one quota tree: an engine that is restored from it makes
   * the same decisions on that tree, as long as no declaration changes which queues belong to it.
   * Trees whose queues have the same nodes stay together; so do all trees where Workloads wait for
   * the pods of all others.
   *
   * @param root name of the cohort at the root, or of a ClusterQueue without a cohort
   */
  public EngineState ofTree(String root) {
    return StateOfTrees.of(this, root);
  }

  /** The roots of the quota trees of all ClusterQueues, by the name of the ClusterQueue. */
  public Map<String, WaitingExport.TreeRoot> roots() {
    return StateOfTrees.rootsOf(this);
  }

  /**
   * What is declared beside queues.
   *
   * @param pairs the pairs of flavor and resource, in the order of their numbers
   * @param flavors the flavors, by name
   * @param topologies topologies and nodes
   * @param namespaces the labels of each namespace
   * @param cohorts the Cohorts, by name
   * @param declaredLocalQueues the LocalQueues that exist, those of one ClusterQueue in the order
   *     in which they were declared
   * @param freed the LocalQueues whose limit on the number of Workloads is another one, or whose
   *     Workloads may no longer wait for it
   * @param rebuildDue whether declarations changed, so that the quota trees are rebuilt before the
   *     next decision
   */
  public record SpecsExport(
      List<FlavorResource> pairs,
      List<Flavor> flavors,
      TopologyExport topologies,
      Map<String, Map<String, String>> namespaces,
      List<CohortSpec> cohorts,
      List<LocalQueueId> declaredLocalQueues,
      List<LocalQueueId> freed,
      boolean rebuildDue) {

    public SpecsExport {
      pairs = List.copyOf(pairs);
      flavors = List.copyOf(flavors);
      namespaces = Map.copyOf(namespaces);
      cohorts = List.copyOf(cohorts);
      declaredLocalQueues = List.copyOf(declaredLocalQueues);
      freed = List.copyOf(freed);
    }
  }

  /**
   * A ClusterQueue.
   *
   * @param spec the spec; empty if it was deleted, and Workloads still name it or have its quota
   * @param problems why it is inactive, as of the last rebuild of the quota trees
   * @param quotaGeneration counts releases and changes of its quota
   * @param active whether it may admit, as of the last rebuild
   * @param topologyAware whether the nodes of any of its flavors are assigned by topology
   * @param impliesTopology whether the nodes of all its flavors are
   * @param pending its pending Workloads
   */
  public record ClusterQueueExport(
      String name,
      Optional<ClusterQueueSpec> spec,
      List<InactiveReason> problems,
      long quotaGeneration,
      boolean active,
      boolean topologyAware,
      boolean impliesTopology,
      PendingQueueExport pending) {

    public ClusterQueueExport {
      problems = List.copyOf(problems);
    }
  }

  /**
   * A LocalQueue.
   *
   * @param spec the spec; empty if it doesn't exist, and Workloads name it
   * @param unqueued UIDs of its Workloads that are in no queue, in the order of their arrival
   * @param usage the usage over time, as the order of admission compares it
   * @param history what that consists of; empty without admission fair sharing
   * @param reportedUsage usage over time that was reported by an event; empty if there was none
   */
  public record LocalQueueExport(
      LocalQueueId id,
      Optional<LocalQueueSpec> spec,
      List<String> unqueued,
      double usage,
      Optional<UsageExport> history,
      Optional<SchedulerEvent.LocalQueueUsed> reportedUsage) {

    public LocalQueueExport {
      unqueued = List.copyOf(unqueued);
    }
  }

  /**
   * Usage over time of a LocalQueue.
   *
   * @param consumed the average usage by resource
   * @param penalties the entry penalties by UID and resource
   * @param sampledAt the time of the last sample
   */
  public record UsageExport(
      Map<String, Double> consumed, Map<String, Map<String, Long>> penalties, Instant sampledAt) {

    public UsageExport {
      consumed = Map.copyOf(consumed);
      penalties = Map.copyOf(penalties);
    }
  }

  /**
   * The Workloads and what happens to them at some time.
   *
   * @param workloads the Workloads, except for those of which the queues know everything
   * @param timers the ends of backoffs
   * @param slices the slices of elastic jobs
   * @param replacements the first Workload that names a slice as replaced
   * @param secondPasses the Workloads with quota that lack places, in the order of their search
   * @param unreported UIDs of Workloads whose explanation may have changed since it was reported,
   *     in the order of these changes
   * @param budgets the budgets, and what capacity is kept
   * @param backfill bounds of their run times, and when blocked ones are planned to start
   */
  public record WorkloadsExport(
      List<WorkloadExport> workloads,
      List<TimerExport> timers,
      List<SliceExport> slices,
      List<SliceExport> replacements,
      List<SecondPassExport> secondPasses,
      List<String> unreported,
      BudgetsExport budgets,
      BackfillExport backfill) {

    public WorkloadsExport {
      workloads = List.copyOf(workloads);
      timers = List.copyOf(timers);
      slices = List.copyOf(slices);
      replacements = List.copyOf(replacements);
      secondPasses = List.copyOf(secondPasses);
      unreported = List.copyOf(unreported);
    }
  }

  /**
   * The budgets.
   *
   * @param accounts the budgets and what was spent of each
   * @param released whether Workloads that budgets held may fit
   * @param prices what flavors cost, by flavor and resource
   * @param reservations what capacity is kept
   */
  public record BudgetsExport(
      List<BudgetAccount.OfBudget> accounts,
      boolean released,
      Map<String, Map<String, BigDecimal>> prices,
      ReservationsExport reservations) {

    public BudgetsExport {
      accounts = List.copyOf(accounts);
    }
  }

  /**
   * Reservations of capacity.
   *
   * @param kept what is kept, and when
   * @param released whether Workloads that reservations held may start
   */
  public record ReservationsExport(List<ReservedCapacity> kept, boolean released) {

    public ReservationsExport {
      kept = List.copyOf(kept);
    }
  }

  /** The end of the backoff of a Workload; it has no effect if the Workload changed since. */
  public record TimerExport(Instant at, String uid, long version) {}

  /** A slice of an elastic job: its name in a job and a namespace, and the UID of a Workload. */
  public record SliceExport(String namespace, String job, String name, String uid) {}

  /**
   * A Workload that lacks places.
   *
   * @param due when they are looked for
   * @param failures how often there were none
   * @param placed whether places are found, and their write has not been reported yet
   */
  public record SecondPassExport(String uid, Instant due, int failures, boolean placed) {}

  /**
   * The part of a state that decides on one quota tree. Trees are independent of each other, except
   * where they have the same nodes: then all trees with such nodes stay together.
   */
  static final class StateOfTrees {

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
}
