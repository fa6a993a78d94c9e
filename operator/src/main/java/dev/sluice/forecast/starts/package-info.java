/**
 * When pending Workloads will start (docs/expected-starts.md). A state of the engine, run times and
 * what happened so far enter; estimates leave.
 */
@NullMarked
package dev.sluice.forecast.starts;

import org.jspecify.annotations.NullMarked;
