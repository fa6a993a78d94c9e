package dev.sluice.forecast.simulate;

import dev.sluice.core.engine.SchedulerQueries.PendingReport;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.FlavorAttempt.Cost;
import dev.sluice.forecast.starts.StartEstimate;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Whether a Workload that doesn't exist yet would get quota (docs/simulate.md).
 *
 * @param pendingReport its situation: the position that it would have before it has had its turn;
 *     with the explanation of the last evaluation, and who holds what is missing, unless it would
 *     be admitted
 * @param admission the quota and the places that it would get; only with {@link Feasibility#NOW}
 * @param lender the cohort whose quota it would borrow; empty if it would borrow none
 * @param targets whom it would preempt; only with {@link Feasibility#AFTER_PREEMPTION}
 * @param start when it would start; with {@link Feasibility#LATER}, and after a preemption
 * @param bill what it would cost, and of which budgets; not with {@link Feasibility#NEVER}
 * @param computedAt the time of the state that it was computed from
 */
public record SimulationResult(
    Feasibility feasibility,
    PendingReport pendingReport,
    Optional<Decision.Admit> admission,
    Optional<String> lender,
    List<Decision.Target> targets,
    Optional<StartEstimate> start,
    Bill bill,
    Instant computedAt) {

  /**
   * Who pays what.
   *
   * @param cost what it would cost; empty if none of its flavors has a price
   * @param budgets the budgets that count it, and what was spent of each, with what would be
   *     reserved for it
   * @param expectedFlavors the flavors that this is told of, where it isn't known which ones it
   *     gets; empty with an admission
   */
  public record Bill(
      Optional<Cost> cost, List<BudgetAccount.OfBudget> budgets, List<String> expectedFlavors) {

    /** It costs nothing. */
    public static final Bill NONE = new Bill(Optional.empty(), List.of(), List.of());

    public Bill {
      budgets = List.copyOf(budgets);
      expectedFlavors = List.copyOf(expectedFlavors);
    }
  }

  public SimulationResult {
    targets = List.copyOf(targets);
  }

  /** The same with another estimate of the start. */
  public SimulationResult withStart(StartEstimate estimate) {
    return new SimulationResult(
        feasibility,
        pendingReport,
        admission,
        lender,
        targets,
        Optional.of(estimate),
        bill,
        computedAt);
  }
}
