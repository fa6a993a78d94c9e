/**
 * The operator as a program: the command line, and the wiring that constructs every object. Options
 * and a configuration enter; a running operator leaves. No other package may depend on this one,
 * except for the laboratory.
 */
@NullMarked
package dev.sluice.app;

import org.jspecify.annotations.NullMarked;
