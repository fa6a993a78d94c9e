package dev.sluice.core.engine;

/**
 * Quota and usage of one resource in one flavor (thousandths for cpu; {@link
 * dev.sluice.core.model.ResourceAmounts#UNLIMITED} where there is no limit).
 *
 * @param nominal nominal quota
 * @param borrowingLimit the most that may be borrowed from the cohort beyond the nominal quota
 * @param lendingLimit the most of the nominal quota that may be lent
 * @param reserved amount reserved by Workloads
 * @param admitted amount reserved by admitted Workloads
 */
public record FlavorUsage(
    String flavor,
    String resource,
    long nominal,
    long borrowingLimit,
    long lendingLimit,
    long reserved,
    long admitted) {}
