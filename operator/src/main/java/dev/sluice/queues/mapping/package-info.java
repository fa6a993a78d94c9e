/**
 * Mapping of API objects to the scheduler's model: pure functions. Input: objects of any content,
 * including invalid ones. Output: values and the problems that make a queue inactive; never an
 * exception.
 */
@NullMarked
package dev.sluice.queues.mapping;

import org.jspecify.annotations.NullMarked;
