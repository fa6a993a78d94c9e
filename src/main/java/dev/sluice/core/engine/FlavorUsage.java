package dev.sluice.core.engine;

/**
 * Quota and use of one resource in one flavor (thousandths for cpu; {@link
 * dev.sluice.model.Amounts#UNLIMITED} where there is no limit).
 *
 * @param nominal own quota
 * @param borrowingLimit what may be taken from the cohort beyond it
 * @param lendingLimit what of it may be lent
 * @param reserved held by Workloads with quota
 * @param admitted held by those of them that are admitted
 */
public record FlavorUsage(
    String flavor,
    String resource,
    long nominal,
    long borrowingLimit,
    long lendingLimit,
    long reserved,
    long admitted) {

  /** What is reserved beyond the own quota. */
  public long borrowed() {
    return Math.max(0, reserved - nominal);
  }
}
