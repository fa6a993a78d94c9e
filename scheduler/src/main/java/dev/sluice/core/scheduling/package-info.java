/**
 * The decisions of one cycle: eligibility, order, admission. Heads and the quota tree are the
 * input; outcomes with their explanations are the output.
 */
@NullMarked
package dev.sluice.core.scheduling;

import org.jspecify.annotations.NullMarked;
