/**
 * What the informers know of the cluster, kept once and read by all; and the feed that tells it to
 * the engine. Objects may enter, as informers bring them. Facts leave when they change something,
 * and lookups that webhooks and jobs ask.
 */
@NullMarked
package dev.sluice.queues.cache;

import org.jspecify.annotations.NullMarked;
