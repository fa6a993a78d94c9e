/**
 * Kinds of Ray: clusters, and jobs and services that make a cluster. Read from and written to JSON;
 * no I/O.
 */
@NullMarked
package dev.sluice.jobs.kinds.ray;

import org.jspecify.annotations.NullMarked;
