package dev.sluice.workload.devices;

/**
 * The steps that selectors may take together, whoever wrote them. Not thread-safe: each count of
 * devices has its own.
 */
final class SelectorWork {

  /** So many steps are about a second: a selector of ten steps for 200,000 devices. */
  static final long MOST = 2_000_000;

  private long left;

  /** At most so many steps. */
  SelectorWork(long most) {
    left = most;
  }

  /** The steps that may still be taken. */
  long left() {
    return left;
  }

  /** Takes steps, or as many as are left. */
  void spend(long steps) {
    left -= Math.min(left, steps);
  }

  /** Whether no steps are left: then what was found isn't complete. */
  boolean isDone() {
    return left == 0;
  }
}
