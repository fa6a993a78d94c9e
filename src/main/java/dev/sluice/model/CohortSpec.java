package dev.sluice.model;

import java.util.List;

/** A Cohort object: its parent (empty for a root) and the quota it adds of its own. */
public record CohortSpec(String name, String parent, List<ResourceGroup> groups) {

  public CohortSpec {
    groups = List.copyOf(groups);
  }
}
