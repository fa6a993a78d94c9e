/** JobSets: several batch Jobs that are one job. Read from and written to JSON; no I/O. */
@NullMarked
package dev.sluice.jobs.kinds.jobset;

import org.jspecify.annotations.NullMarked;
