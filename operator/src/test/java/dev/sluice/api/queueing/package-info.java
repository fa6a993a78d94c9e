/** Tests of the annotations of queues. */
@NullMarked
package dev.sluice.api.queueing;

import org.jspecify.annotations.NullMarked;
