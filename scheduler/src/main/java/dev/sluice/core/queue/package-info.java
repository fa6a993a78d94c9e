/**
 * Pending Workloads of a ClusterQueue: their order and their equivalence classes, active or
 * inadmissible; and the holders of a ClusterQueue's quota.
 */
@NullMarked
package dev.sluice.core.queue;

import org.jspecify.annotations.NullMarked;
