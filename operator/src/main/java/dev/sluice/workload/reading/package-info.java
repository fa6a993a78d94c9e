/**
 * Lists and watches the Workloads of this cluster. Bytes of the API server enter. Records in the
 * cache leave; an object that can't be read is skipped and counted.
 */
@NullMarked
package dev.sluice.workload.reading;

import org.jspecify.annotations.NullMarked;
