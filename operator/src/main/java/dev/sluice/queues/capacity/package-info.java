/**
 * Quotas that follow capacity (docs/dynamic-quota.md). CapacityProviders,
 * DynamicQuotaOrchestrators, queues and cohorts enter as their informers keep them; which effective
 * quotas each queue and cohort has leaves, and the statuses of the orchestrators are written. What
 * is decided is pure; queues don't write their own status here, their reconcilers do.
 */
@NullMarked
package dev.sluice.queues.capacity;

import org.jspecify.annotations.NullMarked;
