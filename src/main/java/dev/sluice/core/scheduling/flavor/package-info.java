/**
 * Which flavor a pod set gets. A Workload's shape, a queue with its quota, and the flavors may
 * enter. An assignment leaves, with what was tried and what stood in the way.
 */
@NullMarked
package dev.sluice.core.scheduling.flavor;

import org.jspecify.annotations.NullMarked;
