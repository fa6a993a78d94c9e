package dev.sluice.jobs.pod;

import dev.sluice.jobs.CachedJob;
import dev.sluice.jobs.JobAction;

/**
 * One thing to do for a group.
 *
 * @param subject the pod that it is done to; what is done to the Workload is told to people there
 */
record PodGroupAction(CachedJob subject, JobAction action) {}
