/**
 * How queues order, limit and start Workloads beyond the fields of their API: annotations of
 * ClusterQueues, Cohorts and LocalQueues. Annotations may enter. Values leave, and what is wrong
 * with an annotation.
 */
@NullMarked
package dev.sluice.api.queueing;

import org.jspecify.annotations.NullMarked;
