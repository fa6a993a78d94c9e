/**
 * What is to be done about one job and its Workloads, as pure functions. A job, its Workloads and
 * what the queues say may enter. Actions leave, which somebody else carries out.
 */
@NullMarked
package dev.sluice.jobs.policy;

import org.jspecify.annotations.NullMarked;
