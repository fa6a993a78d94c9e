/** Queues from the quotas of Kube Queue. */
@NullMarked
package dev.sluice.kubequeue;

import org.jspecify.annotations.NullMarked;
