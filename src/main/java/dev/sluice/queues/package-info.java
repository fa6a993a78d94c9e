/**
 * Reconcilers, one per queue kind, with the informer caches they read, the mapping of objects to
 * the engine's values, and the status they write. Objects of the API server and views of the engine
 * enter; events for the engine, status patches and finalizers leave.
 */
@NullMarked
package dev.sluice.queues;

import org.jspecify.annotations.NullMarked;
