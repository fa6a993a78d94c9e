/** What the engine is told of the world, and when. */
@NullMarked
package dev.sluice.queues.cache;

import org.jspecify.annotations.NullMarked;
