/**
 * The pending: their order, parking, waking and equivalence classes. Pending Workloads of the model
 * may enter. Heads leave, and positions for people.
 */
@NullMarked
package dev.sluice.core.queue;

import org.jspecify.annotations.NullMarked;
