/**
 * Whom to evict so that a Workload fits (docs/scheduling-semantics.md#classical-preemption). The
 * quota tree, and who holds quota of which queue, may enter. Victims with their reasons leave; the
 * tree is left as it was.
 */
@NullMarked
package dev.sluice.core.scheduling.preemption;

import org.jspecify.annotations.NullMarked;
