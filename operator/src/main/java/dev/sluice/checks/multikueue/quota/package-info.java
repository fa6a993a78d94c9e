/**
 * Quota automation: keeps the quota of the manager's queues at the sum of the workers' quotas,
 * where requested. Input: ClusterQueues of the manager and the quotas of the workers. Output:
 * patches of ClusterQueue specs, from the leader only, and the result as a condition.
 */
@NullMarked
package dev.sluice.checks.multikueue.quota;

import org.jspecify.annotations.NullMarked;
