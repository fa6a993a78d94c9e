package dev.sluice.core.model;

import dev.sluice.core.model.PlannedStart.BackfillEvent;
import java.util.List;
import java.util.Map;

/**
 * What happened in one scheduling cycle beside its decisions.
 *
 * @param preemptionSkips by ClusterQueue, the number of heads with preemption targets that were
 *     skipped because heads before them took the quota; queues without are left out
 * @param recomputations heads that were evaluated anew because heads before them preempt the same
 *     Workloads
 * @param ruleUses rules that kept heads from preempting, or let them preempt
 * @param costRuleUses rules of cost that mattered for the flavors of heads
 * @param backfill what happened to Workloads of queues with back-fill
 */
public record CycleStatistics(
    Map<String, Integer> preemptionSkips,
    List<Recomputation> recomputations,
    List<RuleUse> ruleUses,
    List<CostRuleUse> costRuleUses,
    List<BackfillEvent> backfill) {

  /** A cycle in which nothing of that happened. */
  public static final CycleStatistics NONE =
      new CycleStatistics(Map.of(), List.of(), List.of(), List.of(), List.of());

  /** Copies map and lists. */
  public CycleStatistics {
    preemptionSkips = Map.copyOf(preemptionSkips);
    recomputations = List.copyOf(recomputations);
    ruleUses = List.copyOf(ruleUses);
    costRuleUses = List.copyOf(costRuleUses);
    backfill = List.copyOf(backfill);
  }

  /** The same, and what happened to Workloads of queues with back-fill. */
  public CycleStatistics with(List<BackfillEvent> events) {
    return events.isEmpty()
        ? this
        : new CycleStatistics(preemptionSkips, recomputations, ruleUses, costRuleUses, events);
  }

  /** A rule that mattered when a head of a ClusterQueue wanted to preempt. */
  public record RuleUse(String clusterQueue, TimedRule rule) {}

  /** The rules of preemption (docs/preemption.md#rules-that-protect). */
  public enum TimedRule {
    /** A Workload was no target, because it hadn't run long enough. */
    MIN_RUN_TIME("min-run-time"),
    /** A Workload was preempted that hadn't, for a head of an exempt class. */
    MIN_RUN_TIME_EXEMPT("min-run-time-exempt"),
    /** A Workload was no target, because it had been preempted too often. */
    MAX_PREEMPTIONS("max-preemptions"),
    /** A Workload was no target, because the head had preempted it too often. */
    REPEATED_PREEMPTION("repeated-preemption"),
    /** The head had to wait before it preempts anybody. */
    PREEMPTION_DELAY("preemption-delay");

    private final String text;

    TimedRule(String text) {
      this.text = text;
    }

    /** The rule as annotations and metrics call it. */
    public String text() {
      return text;
    }
  }

  /** A rule that mattered for the flavor of a head of a ClusterQueue. */
  public record CostRuleUse(String clusterQueue, CostRule rule) {}

  /** The rules of cost (docs/prices.md#flavors-by-cost). */
  public enum CostRule {
    /** A head got a flavor instead of one that is listed before it and costs more. */
    CHEAPEST("cheapest"),
    /** A head waits for a cheaper flavor though another one fits. */
    MAX_DELAY_FOR_CHEAPER("max-delay-for-cheaper"),
    /** A flavor costs more than the Workload may. */
    MAX_PRICE("max-price");

    private final String text;

    CostRule(String text) {
      this.text = text;
    }

    /** The rule as metrics call it. */
    public String text() {
      return text;
    }
  }

  /** The second evaluation of a head of a ClusterQueue in one cycle. */
  public record Recomputation(String clusterQueue, Result result) {}

  /** The result of a second evaluation. */
  public enum Result {
    /** Other Workloads can be preempted. */
    NEW_TARGETS("new_targets"),
    /** The head fits when the Workloads that others preempt have ended. */
    DEFERRED_FIT("deferred_fit"),
    /** There are no other Workloads to preempt. */
    SKIPPED("skipped");

    private final String text;

    Result(String text) {
      this.text = text;
    }

    /** The result as metrics call it. */
    public String text() {
      return text;
    }
  }
}
