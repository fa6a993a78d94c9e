/**
 * Benchmarks of a whole installation through its API. Input: scenarios, a cluster and an operator's
 * process. Output: figures as text and JSON; the objects created in the cluster are removed.
 */
@NullMarked
package dev.sluice.lab.bench;

import org.jspecify.annotations.NullMarked;
