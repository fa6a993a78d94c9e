package dev.sluice.core.engine;

import dev.sluice.core.backfill.BackfillExport;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
   * @param freed the LocalQueues whose Workloads may no longer have to wait for a limit on their
   *     number
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
}
