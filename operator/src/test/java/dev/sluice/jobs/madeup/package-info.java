/** A made-up kind of job, by which tests show what a kind gets from its integration alone. */
@NullMarked
package dev.sluice.jobs.madeup;

import org.jspecify.annotations.NullMarked;
