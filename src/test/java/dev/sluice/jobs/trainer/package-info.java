/** Tests of TrainJobs. */
@NullMarked
package dev.sluice.jobs.trainer;

import org.jspecify.annotations.NullMarked;
