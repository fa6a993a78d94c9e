package dev.sluice.metrics;

import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.SchedulerViews;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/** The way from a cohort up to its root. */
public final class CohortPath {

  private CohortPath() {}

  /**
   * The cohort and those above it, the nearest first; a cohort in a cycle is returned once. An
   * empty name has none.
   */
  public static Set<String> from(String cohort, SchedulerViews views) {
    Set<String> path = new LinkedHashSet<>();
    String next = cohort;
    while (!next.isEmpty() && path.add(next)) {
      Optional<CohortView> view = views.cohort(next);
      next = view.map(CohortView::parent).orElse("");
    }
    return path;
  }
}
