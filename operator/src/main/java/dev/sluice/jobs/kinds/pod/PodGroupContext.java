package dev.sluice.jobs.kinds.pod;

import dev.sluice.jobs.policy.FlavorLookup;
import dev.sluice.jobs.policy.ManagementStatus;
import dev.sluice.jobs.policy.PriorityLookup;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * All that is looked at to decide what a group of pods needs.
 *
 * @param managementStatus whether it is ours to handle
 * @param workload the Workload of the group's name, if there is one
 * @param elsewhere whether it runs in another cluster once it is admitted
 * @param unwritable UIDs of pods that could not be written or deleted just now
 */
record PodGroupContext(
    PodGroup group,
    ManagementStatus managementStatus,
    Optional<CachedWorkload> workload,
    boolean elsewhere,
    FlavorLookup flavors,
    PriorityLookup priorities,
    Instant now,
    Set<String> unwritable) {}
