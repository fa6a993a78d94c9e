/**
 * What becomes of one Workload between manager and workers. How it stands here and there may enter.
 * A plan leaves: what to do now, and when to look again. There is no clock and no I/O here.
 */
@NullMarked
package dev.sluice.checks.multikueue.placement;

import org.jspecify.annotations.NullMarked;
