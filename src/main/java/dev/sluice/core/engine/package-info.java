/**
 * The single thread that owns all state that decisions depend on: mailbox, clock, pacing of cycles,
 * published views. Facts of the model may enter. Decisions leave to a sink, and immutable views to
 * whoever reads them.
 */
@NullMarked
package dev.sluice.core.engine;

import org.jspecify.annotations.NullMarked;
