package dev.sluice.core.scheduling.preemption;

import java.util.List;

/** Drops targets that turn out not to be needed. */
final class FillBack {

  private FillBack() {}

  /**
   * Drops every target without which the preemptor still fits, from the last but one to the first.
   *
   * @param targets the targets, whose usage is removed; unneeded targets are removed from the list
   * @param borrowing whether the preemptor may borrow
   */
  static void apply(
      PreemptionRequest preemptionRequest, List<PreemptionTarget> targets, boolean borrowing) {
    for (int i = targets.size() - 2; i >= 0; i--) {
      PreemptionTarget preemptionTarget = targets.get(i);
      preemptionTarget.restoreUsage();
      if (preemptionRequest.fits(borrowing)) {
        targets.remove(i);
      } else {
        preemptionTarget.removeUsage();
      }
    }
  }
}
