/**
 * The laboratory: a control plane on this machine, demos, benchmarks and the auditor. Commands and
 * tests enter; reports leave. The image doesn't contain this package.
 */
@NullMarked
package dev.sluice.lab;

import org.jspecify.annotations.NullMarked;
