/**
 * What runs, compared with what was admitted. Pods, owners of pods and Workloads enter; evictions
 * of Workloads that run more than they were admitted with leave, deletions of pods that have no
 * admission, and the answer to the question whether pods of a job remain.
 */
@NullMarked
package dev.sluice.accounting;

import org.jspecify.annotations.NullMarked;
