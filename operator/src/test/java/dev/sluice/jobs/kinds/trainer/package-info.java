/** Tests of TrainJobs. */
@NullMarked
package dev.sluice.jobs.kinds.trainer;

import org.jspecify.annotations.NullMarked;
