/**
 * Benchmarks: how fast, and how small. Only what a measurement needs may enter. Figures leave, as a
 * table that people can repeat.
 */
@NullMarked
package dev.sluice.bench;

import org.jspecify.annotations.NullMarked;
