package dev.sluice.core.model;

import java.util.List;

/**
 * Why a Workload waits, as data. Conditions, events, logs and {@code explain} are renderings of it.
 *
 * @param reason the reason of its QuotaReserved=False condition
 * @param attempts the flavors that were tried, per pod set; none where it didn't come to that
 * @param detail what else there is to say; empty where the attempts say it all
 * @param gated whether it would preempt, but for a preemption gate that is closed
 */
public record Explanation(
    PendingReason reason, List<FlavorAttempt> attempts, String detail, boolean gated) {

  /** Of one that no preemption gate holds up. */
  public Explanation(PendingReason reason, List<FlavorAttempt> attempts, String detail) {
    this(reason, attempts, detail, false);
  }

  public Explanation {
    attempts = List.copyOf(attempts);
  }

  /**
   * Whether it says the same to people: same reason, same obstacles on the same flavors. What
   * happens to be free at the moment doesn't count, since it changes all the time.
   */
  public boolean hasSameContentAs(Explanation other) {
    if (reason != other.reason
        || gated != other.gated
        || !detail.equals(other.detail)
        || attempts.size() != other.attempts.size()) {
      return false;
    }
    for (int i = 0; i < attempts.size(); i++) {
      if (!attempts.get(i).hasSameContentAs(other.attempts.get(i))) {
        return false;
      }
    }
    return true;
  }
}
