/**
 * From records of Workloads to events of the scheduler: requests after limits, overheads and
 * transformations, and whether a Workload can be queued at all. Records enter. Events leave.
 */
@NullMarked
package dev.sluice.workload.feed;

import org.jspecify.annotations.NullMarked;
