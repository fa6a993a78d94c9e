package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.quota.QuotaNode;
import java.util.List;

/** Drops targets that turn out not to be needed. */
final class FillBack {

  private FillBack() {}

  /**
   * Drops every target without which the preemptor still fits, from the last but one to the first.
   * One stays that lowered the share by which a later one was chosen: with both back, the preemptor
   * and the later one could evict each other for ever.
   *
   * @param targets the targets, whose usage is removed; unneeded targets are removed from the list
   * @param borrowing whether the preemptor may borrow
   */
  static void apply(
      PreemptionRequest preemptionRequest, List<PreemptionTarget> targets, boolean borrowing) {
    for (int i = targets.size() - 2; i >= 0; i--) {
      PreemptionTarget preemptionTarget = targets.get(i);
      if (lowersShareFor(
          targets.subList(i + 1, targets.size()), preemptionTarget, preemptionRequest)) {
        continue;
      }
      preemptionTarget.restoreUsage();
      if (preemptionRequest.fits(borrowing)) {
        targets.remove(i);
      } else {
        preemptionTarget.removeUsage();
      }
    }
  }

  /** Whether a target is below the preemptor's side that was compared with that of a later one. */
  private static boolean lowersShareFor(
      List<PreemptionTarget> later,
      PreemptionTarget preemptionTarget,
      PreemptionRequest preemptionRequest) {
    QuotaNode preemptorNode = preemptionRequest.queue().node();
    for (PreemptionTarget each : later) {
      if (each.reason() == PreemptionReason.IN_COHORT_FAIR_SHARING
          && distance(preemptorNode, each) > distance(preemptorNode, preemptionTarget)) {
        return true;
      }
    }
    return false;
  }

  /** How far above the preemptor's queue the lowest node is that has the target below it, too. */
  private static int distance(QuotaNode preemptorNode, PreemptionTarget preemptionTarget) {
    int distance = 0;
    for (QuotaNode node = preemptorNode; node != null; node = node.parent()) {
      if (CandidateQueues.isBelow(preemptionTarget.queue().node(), node)) {
        return distance;
      }
      distance++;
    }
    return distance;
  }
}
