/** Quotas that follow capacity: decisions on their own, and on a real control plane. */
@NullMarked
package dev.sluice.queues.capacity;

import org.jspecify.annotations.NullMarked;
