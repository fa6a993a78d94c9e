/**
 * The same work under other rules (docs/what-if.md): a recorded past or a trace, and changed
 * declarations, enter; waits, use and lost work leave.
 */
@NullMarked
package dev.sluice.forecast.whatif;

import org.jspecify.annotations.NullMarked;
