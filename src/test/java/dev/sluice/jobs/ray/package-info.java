/** Tests of the kinds of Ray. */
@NullMarked
package dev.sluice.jobs.ray;

import org.jspecify.annotations.NullMarked;
