/**
 * Workloads, of which there may be a million: one reader that keeps a slim record of each, one
 * writer that patches them, and the translation of records into facts. Bytes of the API server and
 * decisions of the engine may enter. Records, facts and bounded writes leave.
 */
@NullMarked
package dev.sluice.workload;

import org.jspecify.annotations.NullMarked;
