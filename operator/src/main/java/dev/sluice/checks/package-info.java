/**
 * Admission checks: the list of the controllers of checks that this process handles itself, one
 * package each, above {@code controller}, which is what they have in common. Input: queues,
 * Workloads, and the objects that checks name. Output: states of single checks and conditions of
 * AdmissionChecks. Nothing here reserves or releases quota.
 */
@NullMarked
package dev.sluice.checks;

import org.jspecify.annotations.NullMarked;
