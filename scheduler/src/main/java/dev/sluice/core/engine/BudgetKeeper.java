package dev.sluice.core.engine;

import dev.sluice.core.budget.Budgets;
import dev.sluice.core.engine.QuotaAccounting.Reservation;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.Instants;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.scheduling.BudgetCheck;
import dev.sluice.core.scheduling.flavor.Assignment;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Tells the budgets who holds what, and asks them about heads. Does nothing while there is no
 * budget; counts nothing while the engine doesn't decide, because another process counts then.
 */
final class BudgetKeeper implements BudgetCheck, Budgets.ScopeLookup {

  private final SpecRegistry specRegistry;
  private final Budgets budgets = new Budgets(this);
  private boolean counting;

  BudgetKeeper(SpecRegistry specRegistry) {
    this.specRegistry = specRegistry;
  }

  /** Whether there is no budget. */
  boolean isEmpty() {
    return budgets.isEmpty();
  }

  /** The budgets and what was spent of each. */
  List<BudgetAccount.OfBudget> export() {
    return budgets.export();
  }

  void restore(EngineState state) {
    counting = state.deciding();
    // before the accounts, which prices that change release
    state.workloads().budgets().prices().forEach(budgets::price);
    budgets.restore(
        state.workloads().budgets().accounts(),
        state.now(),
        state.workloads().budgets().released());
  }

  /** Returns whether holders have to be compared. */
  boolean declare(BudgetSpec spec, Optional<BudgetAccount> spent) {
    return budgets.declare(spec, spent) && counting;
  }

  void remove(String name) {
    budgets.remove(name);
  }

  /** What flavors cost, by flavor and resource. */
  Map<String, Map<String, BigDecimal>> prices() {
    return budgets.prices();
  }

  /** What a unit of each resource of a flavor costs for an hour; empty if it has no price. */
  Map<String, BigDecimal> pricesOf(String flavor) {
    return budgets.pricesOf(flavor);
  }

  /** Returns whether holders have to be compared. */
  boolean price(String flavor, Map<String, BigDecimal> perHour) {
    return budgets.price(flavor, perHour) && isCounting();
  }

  void timePassed(Instant now) {
    budgets.timePassed(now);
  }

  /** When the first period ends; {@link Instant#MAX} if there is none. */
  Instant next() {
    return budgets.next();
  }

  /** Whether held Workloads may fit. */
  boolean isReleased() {
    return budgets.isReleased();
  }

  void lookedAgain() {
    budgets.lookedAgain();
  }

  /** Sets whether this engine counts: it does while it decides. */
  void counting(boolean counts) {
    counting = counts;
  }

  /** Whether somebody has to tell who holds what. */
  boolean isCounting() {
    return counting && !budgets.isEmpty();
  }

  /** Compares the accounts with all Workloads that hold quota. */
  void compare(Iterable<WorkloadEntry> entries) {
    Map<String, Budgets.Use> holders = new HashMap<>();
    Map<String, WorkloadEntry> known = new HashMap<>();
    for (WorkloadEntry entry : entries) {
      known.put(entry.id.uid(), entry);
      if (entry.reservation != null) {
        holders.put(entry.id.uid(), use(entry.localQueue.id, entry.reservation));
      }
    }
    budgets.compare(holders, uid -> waitsSince(known.get(uid)));
  }

  /** Since when a Workload waits: it was queued then, or held no quota any more. */
  private static Optional<Instant> waitsSince(@Nullable WorkloadEntry entry) {
    QueuedWorkload item = entry == null ? null : entry.item;
    return item == null
        ? Optional.empty()
        : Optional.of(Instants.ofMicros(item.waitsSinceMicros()));
  }

  /** Records what a Workload holds from now on; null if it holds nothing. */
  void changed(WorkloadEntry entry, @Nullable Reservation reservation) {
    if (isCounting()) {
      budgets.changed(
          entry.id.uid(), reservation == null ? null : use(entry.localQueue.id, reservation));
    }
  }

  void starts(String uid, Optional<Duration> run) {
    if (isCounting()) {
      budgets.starts(uid, run);
    }
  }

  void written(String uid) {
    if (isCounting()) {
      budgets.written(uid);
    }
  }

  void refused(String uid) {
    if (isCounting()) {
      budgets.refused(uid);
    }
  }

  void endCycle() {
    budgets.endCycle();
  }

  @Override
  public Optional<Explanation> beforeFlavors(QueuedWorkload workload, ClusterQueueCache queue) {
    if (budgets.isEmpty()) {
      return Optional.empty();
    }
    Map<FlavorResource, Long> amounts = new HashMap<>();
    for (PodSetRequest podSet : workload.equivalenceClass().shape().podSets()) {
      podSet
          .perPod()
          .forEach(
              (resource, amount) ->
                  amounts.merge(
                      new FlavorResource("", resource),
                      ResourceAmounts.multiply(amount, podSet.count()),
                      ResourceAmounts::add));
    }
    return budgets.refusalBeforeFlavors(
        new Budgets.Use(queue.name(), workload.localQueue(), amounts),
        workload.equivalenceClass().shape().run());
  }

  @Override
  public Optional<Explanation> of(
      QueuedWorkload workload,
      ClusterQueueCache queue,
      Assignment assignment,
      List<PreemptionTarget> targets) {
    return budgets.isEmpty()
        ? Optional.empty()
        : budgets.refusal(
            use(workload, queue, assignment.usage()), workload.equivalenceClass().shape().run());
  }

  @Override
  public void admitted(QueuedWorkload workload, ClusterQueueCache queue, List<PairAmount> usage) {
    if (!budgets.isEmpty()) {
      budgets.plan(use(workload, queue, usage), workload.equivalenceClass().shape().run());
    }
  }

  private Budgets.Use use(
      QueuedWorkload workload, ClusterQueueCache queue, List<PairAmount> usage) {
    Map<FlavorResource, Long> amounts = new HashMap<>();
    for (PairAmount each : usage) {
      amounts.merge(specRegistry.pairs.pair(each.pair()), each.amount(), ResourceAmounts::add);
    }
    return new Budgets.Use(queue.name(), workload.localQueue(), amounts);
  }

  private Budgets.Use use(LocalQueueId localQueue, Reservation reservation) {
    QuotaHolder holder = reservation.quotaHolder();
    Map<FlavorResource, Long> amounts = new HashMap<>();
    for (int i = 0; i < holder.size(); i++) {
      amounts.put(specRegistry.pairs.pair(holder.pair(i)), holder.amount(i));
    }
    return new Budgets.Use(reservation.clusterQueue(), localQueue, amounts);
  }

  @Override
  public List<String> cohortsAbove(String clusterQueue) {
    ClusterQueueState queue = specRegistry.clusterQueues.get(clusterQueue);
    List<String> above = new ArrayList<>();
    String name = queue == null || queue.spec == null ? "" : queue.spec.cohort();
    while (!name.isEmpty() && !above.contains(name)) {
      above.add(name);
      CohortSpec cohort = specRegistry.cohorts.get(name);
      name = cohort == null ? "" : cohort.parent();
    }
    return above;
  }

  @Override
  public Map<String, String> labels(String namespace) {
    return specRegistry.namespaces.getOrDefault(namespace, Map.of());
  }
}
