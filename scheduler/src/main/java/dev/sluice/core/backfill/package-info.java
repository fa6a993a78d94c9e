/**
 * Planned starts of blocked Workloads, and who may start before them (docs/backfill.md): a profile
 * of the quota that comes back over time, by upper bounds of run times. Reads no clock, and changes
 * no queue.
 */
@NullMarked
package dev.sluice.core.backfill;

import org.jspecify.annotations.NullMarked;
