/** Tests of the training operator's jobs. */
@NullMarked
package dev.sluice.jobs.kinds.spark;

import org.jspecify.annotations.NullMarked;
