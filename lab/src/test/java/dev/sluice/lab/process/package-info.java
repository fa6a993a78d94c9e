/**
 * Tests of the operator as a child process. Settings enter. What its own reader makes of them
 * leaves.
 */
@NullMarked
package dev.sluice.lab.process;

import org.jspecify.annotations.NullMarked;
