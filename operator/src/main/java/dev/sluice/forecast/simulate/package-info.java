/**
 * Whether a Workload that doesn't exist yet would get quota (docs/simulate.md). A state of the
 * engine, the Workload and run times enter; a result leaves.
 */
@NullMarked
package dev.sluice.forecast.simulate;

import org.jspecify.annotations.NullMarked;
