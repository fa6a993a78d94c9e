/** Tests of the search for targets. Queues with their holders may enter. Nothing leaves. */
@NullMarked
package dev.sluice.core.scheduling.preemption;

import org.jspecify.annotations.NullMarked;
