/** Tests of StatefulSets in queues. */
@NullMarked
package dev.sluice.jobs.kinds.statefulset;

import org.jspecify.annotations.NullMarked;
