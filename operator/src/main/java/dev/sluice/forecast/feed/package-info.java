/**
 * Runs of Workloads, as they are remembered (docs/run-times.md#recording). Changes of Workloads and
 * what was saved enter; estimates, and what is to be saved, leave.
 */
@NullMarked
package dev.sluice.forecast.feed;

import org.jspecify.annotations.NullMarked;
