/**
 * When a queued Workload is evaluated: which heads the next cycle evaluates, and what brings back a
 * Workload that was evaluated in vain. {@link dev.sluice.core.waiting.WaitingWorkloads} is the one
 * owner of this state. Changes of quota and of queues enter, and after a cycle what each head waits
 * for; heads of cycles and explanations leave.
 */
@NullMarked
package dev.sluice.core.waiting;

import org.jspecify.annotations.NullMarked;
