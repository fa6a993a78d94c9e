package dev.sluice.core.model;

import java.math.BigDecimal;
import java.util.OptionalInt;

/**
 * Rules for the quota of a ClusterQueue or a Cohort beyond the fields of its API
 * (docs/queueing-policies.md).
 *
 * @param oversellRate the factor of nominal quota, borrowing and lending; at least 1
 * @param maxWorkloads the most Workloads that may have quota reserved, in the queue or below the
 *     cohort; empty: no limit
 * @param cohortGuarantee whether guaranteed Workloads of a ClusterQueue in a cohort are held to the
 *     nominal quotas of the cohorts only, and not to the queue's own
 * @param preemption rules for the preemption of Workloads that hold quota here or below
 */
public record QuotaRules(
    BigDecimal oversellRate,
    OptionalInt maxWorkloads,
    boolean cohortGuarantee,
    PreemptionRules preemption) {

  /** No rules beyond the fields. */
  public static final QuotaRules DEFAULT = new QuotaRules(BigDecimal.ONE, OptionalInt.empty());

  public QuotaRules {
    oversellRate = oversellRate.stripTrailingZeros();
  }

  /** Rules where guaranteed Workloads are held to nominal quota on the whole path. */
  public QuotaRules(BigDecimal oversellRate, OptionalInt maxWorkloads) {
    this(oversellRate, maxWorkloads, false);
  }

  /** Rules without any for preemption. */
  public QuotaRules(BigDecimal oversellRate, OptionalInt maxWorkloads, boolean cohortGuarantee) {
    this(oversellRate, maxWorkloads, cohortGuarantee, PreemptionRules.NONE);
  }

  /** The same rules with others for preemption. */
  public QuotaRules withPreemption(PreemptionRules other) {
    return new QuotaRules(oversellRate, maxWorkloads, cohortGuarantee, other);
  }
}
