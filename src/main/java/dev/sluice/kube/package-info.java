/**
 * Reconcilers, one per queue kind, and what they stand on: the informers' stores, the feed of facts
 * to the engine, status written from the engine's views, leadership. Objects of the API server and
 * views of the engine may enter. Facts, status patches and finalizers leave.
 */
@NullMarked
package dev.sluice.kube;

import org.jspecify.annotations.NullMarked;
