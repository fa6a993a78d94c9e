/**
 * The operator as a process of its own, started from here: for the demo, the benchmarks and tests.
 * A kubeconfig and settings enter. A process leaves that is ready, that can be measured, stopped
 * and killed, and that doesn't outlive its starter.
 */
@NullMarked
package dev.sluice.lab.process;

import org.jspecify.annotations.NullMarked;
