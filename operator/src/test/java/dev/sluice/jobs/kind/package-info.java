/** Tests of what all kinds of jobs share. */
@NullMarked
package dev.sluice.jobs.kind;

import org.jspecify.annotations.NullMarked;
