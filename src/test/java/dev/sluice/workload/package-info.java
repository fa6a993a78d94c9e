/** Workloads as the reader, the writer and their translators are held to their promises. */
@NullMarked
package dev.sluice.workload;

import org.jspecify.annotations.NullMarked;
