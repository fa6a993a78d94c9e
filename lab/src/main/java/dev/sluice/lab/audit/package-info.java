/**
 * An auditor that shares no code with the audited operator: decides from the history of Jobs, pods,
 * Workloads and ClusterQueues whether quota was kept, and whether each Job ran once and only while
 * it was admitted. Input: changes ordered by revision. Output: violations, each with the revision
 * that proves it.
 */
@NullMarked
package dev.sluice.lab.audit;

import org.jspecify.annotations.NullMarked;
