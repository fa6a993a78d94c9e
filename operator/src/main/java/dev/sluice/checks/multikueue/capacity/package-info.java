/**
 * Free and nominal quota of the workers' queues. Input: connections through which the queues are
 * watched. Output: the names of the workers that would admit a Workload at once, and amounts of
 * nominal quota.
 */
@NullMarked
package dev.sluice.checks.multikueue.capacity;

import org.jspecify.annotations.NullMarked;
