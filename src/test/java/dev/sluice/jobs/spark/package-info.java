/** Tests of the training operator's jobs. */
@NullMarked
package dev.sluice.jobs.spark;

import org.jspecify.annotations.NullMarked;
