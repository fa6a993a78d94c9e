/**
 * Takes running pods and Jobs that have no Workload into queues: for clusters that begin to queue
 * while jobs run. Objects as JSON and rules of the command line enter; Workloads that hold quota,
 * and faults by object, leave.
 */
@NullMarked
package dev.sluice.jobs.importer;

import org.jspecify.annotations.NullMarked;
