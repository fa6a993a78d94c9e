package dev.sluice.core.engine;

import dev.sluice.core.backfill.PlannedStarts;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.reservation.Reservations;
import dev.sluice.core.scheduling.BudgetCheck;
import dev.sluice.core.scheduling.flavor.Assignment;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import dev.sluice.core.topology.TopologyUsage;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Asks budgets about heads, and then reservations of capacity (docs/reservations.md). Does nothing
 * of its own while there is no reservation.
 */
final class ReservationKeeper implements BudgetCheck, Reservations.Lookup {

  /** The bound that is enforced, and no other one. */
  private static final BackfillRules ENFORCED = new BackfillRules(1, UnknownRunTime.REFUSE);

  private final SpecRegistry specRegistry;
  private final PlannedStarts plannedStarts;
  private final BudgetKeeper budgets;
  private final Reservations reservations = new Reservations(this);

  /**
   * Creates it.
   *
   * @param plannedStarts how long runs take at most
   */
  ReservationKeeper(SpecRegistry specRegistry, PlannedStarts plannedStarts, BudgetKeeper budgets) {
    this.specRegistry = specRegistry;
    this.plannedStarts = plannedStarts;
    this.budgets = budgets;
  }

  /** The budgets, which are asked first. */
  BudgetKeeper budgets() {
    return budgets;
  }

  /** The reservations. */
  Reservations reservations() {
    return reservations;
  }

  /** Whether there is neither a budget nor a reservation. */
  boolean isEmpty() {
    return budgets.isEmpty() && reservations.isEmpty();
  }

  /** Whether Workloads that are held by either may fit. */
  boolean isReleased() {
    return budgets.isReleased() || reservations.isReleased();
  }

  void lookedAgain() {
    budgets.lookedAgain();
    reservations.lookedAgain();
  }

  void beginCycle() {
    reservations.beginCycle();
  }

  void endCycle() {
    budgets.endCycle();
    reservations.endCycle();
  }

  /** What is kept, and whether those that it held may start. */
  EngineState.ReservationsExport export() {
    return new EngineState.ReservationsExport(reservations.export(), reservations.isReleased());
  }

  void restore(EngineState.ReservationsExport reservationsExport, Instant now) {
    reservations.restore(reservationsExport.kept(), reservationsExport.released(), now);
  }

  @Override
  public Optional<Explanation> beforeFlavors(QueuedWorkload workload, ClusterQueueCache queue) {
    return budgets.beforeFlavors(workload, queue);
  }

  @Override
  public Optional<Explanation> of(
      QueuedWorkload workload,
      ClusterQueueCache queue,
      Assignment assignment,
      List<PreemptionTarget> targets) {
    Optional<Explanation> overBudget = budgets.of(workload, queue, assignment, targets);
    return overBudget.isPresent() || reservations.isEmpty()
        ? overBudget
        : reservations.refusal(workload, queue, assignment, uids(targets));
  }

  @Override
  public Set<Scope.OfNodes> closedTo(QueuedWorkload workload, ClusterQueueCache queue) {
    return reservations.isEmpty() ? Set.of() : reservations.closedTo(workload, queue);
  }

  @Override
  public Set<String> keptFlavors(
      QueuedWorkload workload,
      ClusterQueueCache queue,
      Assignment assignment,
      List<PreemptionTarget> targets) {
    return reservations.isEmpty()
        ? Set.of()
        : reservations.keptFlavors(workload, queue, assignment, uids(targets));
  }

  private static Set<String> uids(List<PreemptionTarget> targets) {
    return targets.isEmpty()
        ? Set.of()
        : targets.stream()
            .map(target -> target.quotaHolder().id().uid())
            .collect(Collectors.toUnmodifiableSet());
  }

  @Override
  public void admitted(QueuedWorkload workload, ClusterQueueCache queue, List<PairAmount> usage) {
    budgets.admitted(workload, queue, usage);
    reservations.admitted(workload, queue, usage);
  }

  @Override
  public void preempted(List<PreemptionTarget> targets) {
    if (!reservations.isEmpty()) {
      reservations.preempted(uids(targets));
    }
  }

  @Override
  public @Nullable ClusterQueueCache queue(String name) {
    return specRegistry.cacheOf(name);
  }

  @Override
  public List<ClusterQueueCache> queues() {
    return specRegistry.existingQueues().toList();
  }

  @Override
  public Collection<ClusterQueueCache> queuesBelow(QuotaNode rootNode) {
    return specRegistry.queuesBelow(rootNode);
  }

  @Override
  public FlavorResource pair(int number) {
    return specRegistry.pairs.pair(number);
  }

  @Override
  public int number(String flavor, String resource) {
    return specRegistry.pairs.number(flavor, resource);
  }

  @Override
  public Map<String, String> labels(String flavor) {
    Flavor known = specRegistry.flavors.get(flavor);
    return known == null ? Map.of() : known.nodeLabels();
  }

  @Override
  public boolean hasPlaces(String flavor) {
    return specRegistry.topologies.isTopologyFlavor(flavor);
  }

  @Override
  public boolean areOn(TopologyUsage topologyUsage, Scope.OfNodes scope) {
    return specRegistry.topologies.areOn(topologyUsage, scope);
  }

  @Override
  public long longest(String uid) {
    return plannedStarts.longest(uid, ENFORCED);
  }

  /** The Workloads that have to go, because what they use is kept from now on. */
  List<ReservedCapacity.Overstay> overstays() {
    return reservations.isEmpty() ? List.of() : reservations.overstays();
  }
}
