/**
 * Fencing in worker clusters: stops the Workloads that a manager sent to this cluster when the
 * manager's renewals stop, so that the manager may start them elsewhere. Input: the managers'
 * Leases and Workloads with a fence annotation. Output: only the deactivation of such Workloads;
 * docs/multikueue.md describes the rule.
 */
@NullMarked
package dev.sluice.checks.multikueue.fencing;

import org.jspecify.annotations.NullMarked;
