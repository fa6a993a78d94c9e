/**
 * The job framework: from what a job says to its Workload, and from the Workload's fate to starting
 * and stopping the job. {@code kind} is what a kind of job implements, {@code policy} decides,
 * {@code controller} reads and writes, and {@code kinds} has one package per kind. Jobs, Workload
 * records and queue facts may enter, nothing of scheduling. Workloads, patches of jobs and events
 * leave.
 */
@NullMarked
package dev.sluice.jobs;

import org.jspecify.annotations.NullMarked;
