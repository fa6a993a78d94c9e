package dev.sluice.core.model;

/**
 * Quota of one resource in one flavor; {@link ResourceAmounts#UNLIMITED} means that there is no
 * limit.
 *
 * @param nominal the guaranteed amount
 * @param borrowingLimit the most that may be borrowed from the cohort beyond the nominal quota
 * @param lendingLimit the most of the nominal quota that the cohort may use
 */
public record Quota(long nominal, long borrowingLimit, long lendingLimit) {

  /**
   * No nominal quota and no limits: the quota of a node for a pair that the node doesn't declare.
   */
  public static final Quota NONE =
      new Quota(0, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
}
