package dev.sluice.core.quota;

/**
 * What is so of any Workload that has quota of a queue, or of the queues below a cohort.
 *
 * @param notEvictable whether nobody can evict it
 * @param savesWork whether it saved its work since it got its quota
 */
public record AnyHolder(boolean notEvictable, boolean savesWork) {

  /** Nothing, as a rule. */
  public static final AnyHolder NONE = new AnyHolder(false, false);

  AnyHolder or(AnyHolder other) {
    return new AnyHolder(notEvictable || other.notEvictable, savesWork || other.savesWork);
  }
}
