/**
 * Who is asked first: which worker clusters a Workload is offered to, and when to look again. What
 * is known of the clusters and of earlier offers may enter. Decisions leave, as values; there is no
 * clock and no I/O here.
 */
@NullMarked
package dev.sluice.checks.multikueue.dispatch;

import org.jspecify.annotations.NullMarked;
