/**
 * Jobs of the trainer, whose pods their runtimes describe. Read from and written to JSON; no I/O.
 */
@NullMarked
package dev.sluice.jobs.kinds.trainer;

import org.jspecify.annotations.NullMarked;
