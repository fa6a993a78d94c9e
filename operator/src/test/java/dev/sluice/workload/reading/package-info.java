/** The reader of Workloads, held to its promises by a server that is scripted. */
@NullMarked
package dev.sluice.workload.reading;

import org.jspecify.annotations.NullMarked;
