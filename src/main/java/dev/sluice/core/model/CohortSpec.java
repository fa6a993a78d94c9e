package dev.sluice.core.model;

import java.math.BigDecimal;
import java.util.List;

/**
 * A Cohort object.
 *
 * @param name its name
 * @param parent its parent; empty for a root
 * @param groups the quota it adds of its own
 * @param fairWeight its weight where idle quota is shared fairly; not negative
 */
public record CohortSpec(
    String name, String parent, List<ResourceGroup> groups, BigDecimal fairWeight) {

  public CohortSpec {
    groups = List.copyOf(groups);
    fairWeight = fairWeight.stripTrailingZeros();
  }

  /** One of weight 1. */
  public CohortSpec(String name, String parent, List<ResourceGroup> groups) {
    this(name, parent, groups, BigDecimal.ONE);
  }
}
