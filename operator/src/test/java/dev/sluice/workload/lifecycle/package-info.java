/** Tests of the life cycle of Workloads: given a Workload and its queues, what is written. */
@NullMarked
package dev.sluice.workload.lifecycle;

import org.jspecify.annotations.NullMarked;
