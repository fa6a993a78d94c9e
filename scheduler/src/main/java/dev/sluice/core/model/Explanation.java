package dev.sluice.core.model;

import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Why a Workload is pending, as data. Conditions, events, logs and {@code explain} are renderings
 * of this data.
 *
 * @param reason the reason of the QuotaReserved=False condition
 * @param attempts the flavors that were tried, per pod set; empty if no flavor was tried
 * @param detail additional text; empty where the attempts are the whole explanation
 * @param gated whether the Workload would preempt, but a preemption gate is closed
 */
public record Explanation(
    PendingReason reason, List<FlavorAttempt> attempts, String detail, boolean gated) {

  /** What the text begins with when a budget holds the Workload. */
  public static final String BUDGET_EXHAUSTED = "BudgetExhausted: ";

  /** What the text begins with when capacity is kept for others. */
  public static final String CAPACITY_RESERVED = ReservedCapacity.REASON + ": ";

  /** A number, which may have a fraction. */
  private static final Pattern NUMBER = Pattern.compile("\\b\\d{1,40}(\\.\\d{1,9})?\\b");

  /** A time as {@link java.time.Instant} writes it. */
  private static final Pattern TIME =
      Pattern.compile("\\d{4}-\\d\\d-\\d\\dT[\\d:]{5,8}(\\.\\d{1,9})?Z");

  /** An explanation for a Workload that no preemption gate blocks. */
  public Explanation(PendingReason reason, List<FlavorAttempt> attempts, String detail) {
    this(reason, attempts, detail, false);
  }

  public Explanation {
    attempts = List.copyOf(attempts);
  }

  /**
   * Whether the other explanation has the same content for a reader: same reason, same rejections
   * of the same flavors. The quota that is free at the moment, the time at which a rule ends and
   * what is left of a budget are not compared, because they change all the time.
   */
  public boolean hasSameContentAs(Explanation other) {
    if (reason != other.reason
        || gated != other.gated
        || !hasSameDetailAs(other)
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

  private boolean hasSameDetailAs(Explanation other) {
    return detail.equals(other.detail) || comparable().equals(other.comparable());
  }

  private String comparable() {
    String timeless = TIME.matcher(detail).replaceAll("");
    return detail.startsWith(BUDGET_EXHAUSTED) ? NUMBER.matcher(timeless).replaceAll("") : timeless;
  }

  /**
   * A report of the engine on request: why a Workload is pending. A late or lost report does no
   * harm.
   *
   * @param version the resourceVersion of the Workload that the explanation is based on
   */
  public record PendingExplanation(WorkloadId id, long version, Explanation explanation) {}
}
