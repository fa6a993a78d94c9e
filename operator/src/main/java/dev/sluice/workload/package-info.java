/**
 * Workloads, of which there may be a million: {@code reading} keeps a slim {@code record} of each,
 * {@code feed} translates records into scheduler events, {@code status} says what a change of the
 * status looks like, {@code writing} patches, and {@code lifecycle} decides what happens besides
 * admission. Bytes of the API server and decisions of the engine may enter. Records, events and a
 * bounded number of concurrent writes leave.
 */
@NullMarked
package dev.sluice.workload;

import org.jspecify.annotations.NullMarked;
