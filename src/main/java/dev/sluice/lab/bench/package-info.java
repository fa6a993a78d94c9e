/**
 * Benchmarks of a whole installation, through its API. Scenarios, a cluster and an operator's
 * process enter. Figures leave, for people and as JSON; what was made in the cluster is removed.
 */
@NullMarked
package dev.sluice.lab.bench;

import org.jspecify.annotations.NullMarked;
