/**
 * Informer caches of the cluster, shared by all readers, and the feed that submits their changes to
 * the scheduler. Input: objects from the informers. Output: scheduler events for relevant changes,
 * and lookups for webhooks and jobs.
 */
@NullMarked
package dev.sluice.queues.cache;

import org.jspecify.annotations.NullMarked;
