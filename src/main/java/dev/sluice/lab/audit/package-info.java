/**
 * An auditor that shares nothing with what it audits: from the history of Jobs, pods, Workloads and
 * ClusterQueues alone it tells whether quota was kept, and whether each Job ran once and only when
 * it was admitted. Changes, in the order of their revisions, enter. Findings leave, each with the
 * revision that proves it.
 */
@NullMarked
package dev.sluice.lab.audit;

import org.jspecify.annotations.NullMarked;
