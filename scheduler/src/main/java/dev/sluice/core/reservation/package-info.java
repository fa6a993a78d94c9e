/**
 * Which capacity is kept for whom and when, who may start beside it, and who has to go when its
 * time comes (docs/reservations.md). Reads no clock, and leaves the quota tree as it was.
 */
@NullMarked
package dev.sluice.core.reservation;

import org.jspecify.annotations.NullMarked;
