/**
 * Spark applications, whose object says of driver and executors what a pod template would. Read
 * from and written to JSON; no I/O.
 */
@NullMarked
package dev.sluice.jobs.kinds.spark;

import org.jspecify.annotations.NullMarked;
