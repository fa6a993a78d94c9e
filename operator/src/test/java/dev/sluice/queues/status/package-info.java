/** The status of queues as values: what it becomes, which patch leads there, at which pace. */
@NullMarked
package dev.sluice.queues.status;

import org.jspecify.annotations.NullMarked;
