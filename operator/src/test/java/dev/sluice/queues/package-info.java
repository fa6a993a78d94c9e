/** Reconcilers at work against a mock of the API server. */
@NullMarked
package dev.sluice.queues;

import org.jspecify.annotations.NullMarked;
