/**
 * One reconciler per queue kind, each a short story: finalizer, what people should know, status.
 * Objects and views may enter, through the informers' stores and the engine's published state.
 * Merge patches and notices leave, and only from the process that leads.
 */
@NullMarked
package dev.sluice.queues;

import org.jspecify.annotations.NullMarked;
