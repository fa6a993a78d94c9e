/**
 * Tests of the pending: heap, classes of equals, parking. Small queues may enter. Nothing leaves.
 */
@NullMarked
package dev.sluice.core.queue;

import org.jspecify.annotations.NullMarked;
