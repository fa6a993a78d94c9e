/**
 * What will be: run times of jobs, and starts that are computed from them (docs/run-times.md).
 * Values enter and leave; nothing here talks to the API server or reads a clock.
 */
@NullMarked
package dev.sluice.forecast;

import org.jspecify.annotations.NullMarked;
