/**
 * Keeps the quota of the manager's queues at the sum of the workers', where that is asked for.
 * Queues here and what is known of the workers' may enter. Specs of ClusterQueues leave, as patches
 * from the replica that leads, and what their conditions are to say of it.
 */
@NullMarked
package dev.sluice.checks.multikueue.quota;

import org.jspecify.annotations.NullMarked;
