/**
 * What people wrote, in the engine's vocabulary: pure functions from typed objects to values of the
 * model. Objects of any content may enter, also what slipped by validation. Values leave, and the
 * problems that keep a queue from being active; never an exception.
 */
@NullMarked
package dev.sluice.queues.mapping;

import org.jspecify.annotations.NullMarked;
