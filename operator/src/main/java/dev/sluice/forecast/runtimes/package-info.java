/**
 * How long jobs run: what was learned from runs that ended, what their owners declare, and limits
 * (docs/run-times.md). Runs enter, distributions leave.
 */
@NullMarked
package dev.sluice.forecast.runtimes;

import org.jspecify.annotations.NullMarked;
