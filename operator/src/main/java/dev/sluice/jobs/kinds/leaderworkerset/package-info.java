/**
 * LeaderWorkerSets: a Workload for each of their groups of pods (docs/pods.md). LeaderWorkerSets,
 * pods and Workloads enter from watches; writes of Workloads and of pods that wait leave.
 */
@NullMarked
package dev.sluice.jobs.kinds.leaderworkerset;

import org.jspecify.annotations.NullMarked;
