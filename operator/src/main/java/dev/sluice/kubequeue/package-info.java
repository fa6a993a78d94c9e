/**
 * Queues for people who come from Kube Queue. What they write enters: quota trees, quotas,
 * suspended jobs without a queue name, QueueUnits and Queues. Cohorts, ClusterQueues, LocalQueues,
 * queue labels and the status of QueueUnits leave. The rules are in docs/kube-queue.md.
 */
@NullMarked
package dev.sluice.kubequeue;

import org.jspecify.annotations.NullMarked;
