package dev.sluice.core.queue;

/**
 * How many Workloads are pending.
 *
 * @param active those that the next cycles will look at
 * @param inadmissible those that wait for something to change
 */
public record PendingCount(int active, int inadmissible) {

  /** None. */
  public static final PendingCount NONE = new PendingCount(0, 0);

  PendingCount plus(int moreActive, int moreInadmissible) {
    return new PendingCount(active + moreActive, inadmissible + moreInadmissible);
  }
}
