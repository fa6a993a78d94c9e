package dev.sluice.core.queue;

/**
 * Numbers of pending Workloads.
 *
 * @param active number of Workloads that the next cycles will evaluate
 * @param inadmissible number of Workloads that wait for a change
 */
public record PendingCount(int active, int inadmissible) {

  /** None. */
  public static final PendingCount NONE = new PendingCount(0, 0);

  PendingCount plus(int moreActive, int moreInadmissible) {
    return new PendingCount(active + moreActive, inadmissible + moreInadmissible);
  }
}
