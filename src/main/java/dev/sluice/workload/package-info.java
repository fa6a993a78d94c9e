/**
 * Workloads, of which there may be a million: one reader that keeps a slim record of each, one
 * writer that patches them, and the translation of records into scheduler events. Bytes of the API
 * server and decisions of the engine may enter. Records, events and a bounded number of concurrent
 * writes leave.
 */
@NullMarked
package dev.sluice.workload;

import org.jspecify.annotations.NullMarked;
