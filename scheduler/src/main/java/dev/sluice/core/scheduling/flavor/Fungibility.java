package dev.sluice.core.scheduling.flavor;

import dev.sluice.core.model.AssignmentMode;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;

/**
 * Preference between flavors, and the end of the search for a flavor
 * (docs/scheduling-semantics.md#flavor-assignment).
 */
record Fungibility(FlavorFungibility spec) {

  /** How a request fits, and the level of the cohort tree from which it borrows. */
  record Fit(AssignmentMode mode, int borrowLevel) {

    static final Fit PERFECT = new Fit(AssignmentMode.FIT, 0);
  }

  /** Whether {@code one} is better than {@code other}. */
  boolean prefers(Fit one, Fit other) {
    int byClass = Integer.compare(rank(one.mode), rank(other.mode));
    if (byClass != 0) {
      return byClass > 0;
    }
    int byMode = one.mode.compareTo(other.mode);
    int byLevel = Integer.compare(other.borrowLevel, one.borrowLevel);
    int first = spec.preferPreemption() ? byLevel : byMode;
    int second = spec.preferPreemption() ? byMode : byLevel;
    return first != 0 ? first > 0 : second > 0;
  }

  /** Ranks modes: NO_FIT below NO_CANDIDATES, and NO_CANDIDATES below all others. */
  private static int rank(AssignmentMode mode) {
    return switch (mode) {
      case NO_FIT -> 0;
      case NO_CANDIDATES -> 1;
      case PREEMPT, RECLAIM, FIT -> 2;
    };
  }

  /** Whether the search continues with the next flavor. */
  boolean triesNext(Fit fit) {
    return switch (fit.mode) {
      case NO_FIT, NO_CANDIDATES -> true;
      case PREEMPT, RECLAIM ->
          spec.tryNextWhenPreempting() || (fit.borrowLevel > 0 && spec.tryNextWhenBorrowing());
      case FIT -> fit.borrowLevel > 0 && spec.tryNextWhenBorrowing();
    };
  }
}
