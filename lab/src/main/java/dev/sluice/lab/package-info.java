/**
 * The laboratory: a control plane on this machine, demos, benchmarks and the auditor. Input:
 * commands and tests. Output: reports. The image does not contain this package.
 */
@NullMarked
package dev.sluice.lab;

import org.jspecify.annotations.NullMarked;
