/** AppWrappers: objects of any kinds that are one job. Read from and written to JSON; no I/O. */
@NullMarked
package dev.sluice.jobs.kinds.appwrapper;

import org.jspecify.annotations.NullMarked;
