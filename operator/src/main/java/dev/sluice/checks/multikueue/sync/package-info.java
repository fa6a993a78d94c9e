/**
 * Execution of placement plans: remote Workloads and jobs in worker clusters, and the state in the
 * manager's own objects. Input: changes of Workloads in manager and workers, and plans. Output:
 * writes, one at a time per Workload, from the leader only.
 */
@NullMarked
package dev.sluice.checks.multikueue.sync;

import org.jspecify.annotations.NullMarked;
