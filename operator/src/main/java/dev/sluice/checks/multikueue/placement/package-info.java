/**
 * Placement of one Workload between manager and workers. Input: the Workload's state in the manager
 * and in each worker. Output: a plan: actions for now, and the time of the next reconciliation. The
 * package reads no clock and does no I/O.
 */
@NullMarked
package dev.sluice.checks.multikueue.placement;

import org.jspecify.annotations.NullMarked;
