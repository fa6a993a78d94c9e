/** Tests of the kinds of Ray. */
@NullMarked
package dev.sluice.jobs.kinds.ray;

import org.jspecify.annotations.NullMarked;
