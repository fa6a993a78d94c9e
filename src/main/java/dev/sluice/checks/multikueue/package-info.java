/**
 * The admission check {@code kueue.x-k8s.io/multikueue}: worker clusters, and the checks that
 * choose from them. MultiKueueClusters, MultiKueueConfigs, AdmissionChecks and the Secrets that
 * they name may enter. Conditions of these leave, and connections for those who send work.
 */
@NullMarked
package dev.sluice.checks.multikueue;

import org.jspecify.annotations.NullMarked;
