package dev.sluice.core.scheduling.preemption;

import java.util.List;

/** Lets victims stay that turn out not to be needed. */
final class FillBack {

  private FillBack() {}

  /**
   * Has whoever may stay after all come back, from the last but one to the first.
   *
   * @param taken the victims, all of whom have left; those who come back are taken off
   * @param borrowing whether the preemptor may borrow
   */
  static void apply(
      PreemptionRequest preemptionRequest, List<PreemptionTarget> taken, boolean borrowing) {
    for (int i = taken.size() - 2; i >= 0; i--) {
      PreemptionTarget preemptionTarget = taken.get(i);
      preemptionTarget.restoreUsage();
      if (preemptionRequest.fits(borrowing)) {
        taken.remove(i);
      } else {
        preemptionTarget.removeUsage();
      }
    }
  }
}
