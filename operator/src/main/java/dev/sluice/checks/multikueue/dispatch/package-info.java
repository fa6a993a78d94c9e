/**
 * Dispatchers: which worker clusters are nominated for a Workload, and when to dispatch again.
 * Input: the state of the clusters and earlier nominations. Output: decisions as values. The
 * package reads no clock and does no I/O.
 */
@NullMarked
package dev.sluice.checks.multikueue.dispatch;

import org.jspecify.annotations.NullMarked;
