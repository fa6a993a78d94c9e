/**
 * The admission check {@code kueue.x-k8s.io/multikueue}: worker clusters and the checks that select
 * them. Input: MultiKueueClusters, MultiKueueConfigs, AdmissionChecks, and the Secrets they name.
 * Output: conditions of these objects, and connections for dispatching Workloads.
 */
@NullMarked
package dev.sluice.checks.multikueue;

import org.jspecify.annotations.NullMarked;
