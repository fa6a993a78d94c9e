/**
 * Carries out decisions of the engine on Workloads. Decisions enter. A bounded number of concurrent
 * patches leaves, each of which is retried, refused as a conflict, or reported as written.
 */
@NullMarked
package dev.sluice.workload.writing;

import org.jspecify.annotations.NullMarked;
