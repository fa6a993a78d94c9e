package dev.sluice.jobs.policy;

import dev.sluice.api.KueueConstants;
import dev.sluice.workload.record.CachedWorkload.PriorityClassRef;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Where the priority of a job comes from, in the order of
 * docs/workload-semantics.md#creation-of-workloads.
 */
public sealed interface PrioritySource {

  /** A value, and the class that it was read from; empty when nobody gave any. */
  record Found(int value, Optional<PriorityClassRef> ref) implements PrioritySource {}

  /** The job names a class that doesn't exist. */
  record Missing(String kind, String name) implements PrioritySource {}

  /**
   * Label of the job, class that the kind names, class of the first template that names one, global
   * default, 0.
   */
  static PrioritySource of(CachedJob job, PriorityLookup classes) {
    String label = job.workloadPriorityClass();
    if (!label.isEmpty()) {
      return found(
          KueueConstants.GROUP,
          "WorkloadPriorityClass",
          label,
          classes.workloadPriorityClass(label));
    }
    String core = coreClass(job);
    if (!core.isEmpty()) {
      return found("scheduling.k8s.io", "PriorityClass", core, classes.priorityClass(core));
    }
    return classes
        .globalDefault()
        .map(
            named ->
                found(
                    "scheduling.k8s.io",
                    "PriorityClass",
                    named.name(),
                    OptionalInt.of(named.value())))
        .orElse(new Found(0, Optional.empty()));
  }

  private static String coreClass(CachedJob job) {
    if (!job.priorityClass().isEmpty()) {
      return job.priorityClass();
    }
    return job.podSets().stream()
        .map(CachedJob.PodSet::priorityClassName)
        .filter(name -> !name.isEmpty())
        .findFirst()
        .orElse("");
  }

  private static PrioritySource found(String group, String kind, String name, OptionalInt value) {
    return value.isEmpty()
        ? new Missing(kind, name)
        : new Found(value.getAsInt(), Optional.of(new PriorityClassRef(group, kind, name)));
  }
}
