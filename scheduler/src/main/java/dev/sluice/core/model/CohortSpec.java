package dev.sluice.core.model;

import dev.sluice.core.model.QueueRules.QuotaRules;
import java.math.BigDecimal;
import java.util.List;

/**
 * The part of a Cohort's spec that the engine needs.
 *
 * @param name name of the cohort
 * @param parent name of the parent cohort; empty for a root
 * @param groups the quota that the cohort adds to the quota of its members
 * @param fairWeight the weight for fair sharing; not negative
 * @param rules rules beyond the fields of the API
 */
public record CohortSpec(
    String name,
    String parent,
    List<ResourceGroup> groups,
    BigDecimal fairWeight,
    QuotaRules rules) {

  public CohortSpec {
    groups = List.copyOf(groups);
    fairWeight = fairWeight.stripTrailingZeros();
  }

  /** A cohort without rules beyond the fields of the API. */
  public CohortSpec(String name, String parent, List<ResourceGroup> groups, BigDecimal fairWeight) {
    this(name, parent, groups, fairWeight, QuotaRules.DEFAULT);
  }

  /** A cohort of weight 1. */
  public CohortSpec(String name, String parent, List<ResourceGroup> groups) {
    this(name, parent, groups, BigDecimal.ONE);
  }
}
