/**
 * The status of queues: what it should be, by the engine's view, and the smallest patch that gets
 * it there, at a measured pace. Views and the status that stands may enter. Merge patches leave.
 */
@NullMarked
package dev.sluice.queues.status;

import org.jspecify.annotations.NullMarked;
