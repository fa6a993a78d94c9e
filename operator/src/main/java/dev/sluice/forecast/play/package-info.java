/**
 * An engine played forward in simulated time: what starts when, if runs last as long as somebody
 * says (docs/expected-starts.md). Copies of the engine, arrivals and run times enter; starts and
 * ends leave.
 */
@NullMarked
package dev.sluice.forecast.play;

import org.jspecify.annotations.NullMarked;
