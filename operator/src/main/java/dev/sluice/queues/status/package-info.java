/**
 * Statuses of queues: the desired status from the scheduler's view, the smallest patch to reach it,
 * and the rate limit of updates. Input: views and the present status. Output: merge patches.
 */
@NullMarked
package dev.sluice.queues.status;

import org.jspecify.annotations.NullMarked;
