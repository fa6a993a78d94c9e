/**
 * Reconcilers, one per queue kind, with the informer caches that they read, the mapping of objects
 * to the scheduler's model, and the statuses that they write. Input: objects of the API server and
 * views of the scheduler. Output: events for the scheduler, status patches and finalizers.
 */
@NullMarked
package dev.sluice.queues;

import org.jspecify.annotations.NullMarked;
