/** Tests of StatefulSets in queues. */
@NullMarked
package dev.sluice.jobs.statefulset;

import org.jspecify.annotations.NullMarked;
