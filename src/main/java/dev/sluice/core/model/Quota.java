package dev.sluice.core.model;

/**
 * Quota of one resource in one flavor; {@link ResourceAmounts#UNLIMITED} stands for an absent
 * limit.
 *
 * @param nominal what is its own
 * @param borrowingLimit how much more it may take from its cohort
 * @param lendingLimit how much of its own the cohort may take
 */
public record Quota(long nominal, long borrowingLimit, long lendingLimit) {

  /** No quota of its own and no limits: what a node has for a pair that it doesn't declare. */
  public static final Quota NONE =
      new Quota(0, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
}
