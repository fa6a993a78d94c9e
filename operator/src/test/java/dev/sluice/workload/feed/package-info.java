/** From records of Workloads to what the scheduler is told. */
@NullMarked
package dev.sluice.workload.feed;

import org.jspecify.annotations.NullMarked;
