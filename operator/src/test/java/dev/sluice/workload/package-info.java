/** Workloads as tests write them, and what stands in for the API server. */
@NullMarked
package dev.sluice.workload;

import org.jspecify.annotations.NullMarked;
