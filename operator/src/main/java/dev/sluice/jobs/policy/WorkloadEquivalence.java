package dev.sluice.jobs.policy;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Admission;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Whether a Workload says what its job says (docs/workload-semantics.md#creation-of-workloads). */
final class WorkloadEquivalence {

  private WorkloadEquivalence() {}

  /**
   * Whether the Workload is still the job's. A Workload with quota may say it in two ways: as the
   * job was when it was suspended, or as it is while it runs.
   */
  static boolean matches(CachedJob job, CachedWorkload workload, JobOptions options) {
    if (!sameOwner(job, workload)
        || !sameLimit(job, workload, options)
        || job.podSets().size() != workload.spec().podSets().size()) {
      return false;
    }
    Optional<Admission> admission =
        workload.status().admission().filter(given -> workload.quotaReserved());
    if (admission.isEmpty()) {
      return looksPlain(job, workload, options);
    }
    return looksStarted(job, workload, admission.get().podSetAssignments())
        || (job.state().suspended() && looksPlain(job, workload, options));
  }

  /** What a job says otherwise than a Workload that it doesn't match; empty if it isn't told. */
  static String difference(CachedJob job, CachedWorkload workload, JobOptions options) {
    List<CachedWorkload.PodSet> theirs = workload.spec().podSets();
    if (job.podSets().size() != theirs.size()) {
      return "it has %d pod sets, not %d".formatted(job.podSets().size(), theirs.size());
    }
    if (!sameLimit(job, workload, options)) {
      return "its longest execution time has changed";
    }
    List<Assignment> assignments =
        workload.status().admission().map(Admission::podSetAssignments).orElse(List.of());
    for (int i = 0; i < theirs.size(); i++) {
      CachedJob.PodSet ours = job.podSets().get(i);
      int given = assigned(theirs.get(i), assignments);
      if (ours.count() != theirs.get(i).count() && ours.count() != given) {
        return "pod set %s has %d pods, not %d".formatted(ours.name(), ours.count(), given);
      }
      if (!sameTemplate(ours, theirs.get(i), false)) {
        return "the template of pod set %s has changed".formatted(ours.name());
      }
    }
    return "";
  }

  /**
   * A limit of the queue counts until quota is reserved. From then on, and while the job runs, the
   * Workload may also say what the job says alone, or no more than that if its limit was one of the
   * queue. A prebuilt Workload may say that at any time: the queue counts for it only when it is
   * moved there ({@link WorkloadSynchronizer}).
   */
  private static boolean sameLimit(CachedJob job, CachedWorkload workload, JobOptions options) {
    int limit = workload.spec().maximumExecutionTimeSeconds();
    int own = job.maximumExecutionTimeSeconds();
    boolean prebuilt = !job.prebuiltWorkload().isEmpty();
    if (!prebuilt && limit == options.maximumExecutionTimeSeconds(job)) {
      return true;
    }
    boolean keeps = prebuilt || workload.quotaReserved() || !job.state().suspended();
    boolean ofQueue =
        limit > 0
            && (own == 0 || limit <= own)
            && workload.annotations().containsKey(RunTimeAnnotations.MAX);
    return keeps && (limit == own || ofQueue);
  }

  private static boolean sameOwner(CachedJob job, CachedWorkload workload) {
    return workload
        .owner()
        .filter(owner -> job.ref().kind().is(owner.apiVersion(), owner.kind()))
        .filter(owner -> owner.uid().equals(job.ref().uid()))
        .filter(owner -> owner.name().equals(job.ref().name()))
        .isPresent();
  }

  private static boolean looksPlain(CachedJob job, CachedWorkload workload, JobOptions options) {
    boolean withTolerations = !workload.admitted();
    for (int i = 0; i < job.podSets().size(); i++) {
      CachedJob.PodSet ours = job.podSets().get(i);
      CachedWorkload.PodSet theirs = workload.spec().podSets().get(i);
      if (ours.count() != theirs.count()
          || !minCount(ours, options).equals(theirs.minCount())
          || !sameTemplate(ours, theirs, withTolerations)) {
        return false;
      }
    }
    return true;
  }

  private static OptionalInt minCount(CachedJob.PodSet podSet, JobOptions options) {
    return podSet.minCount() > 0 && options.on(FeatureGate.PARTIAL_ADMISSION)
        ? OptionalInt.of(podSet.minCount())
        : OptionalInt.empty();
  }

  private static boolean looksStarted(
      CachedJob job, CachedWorkload workload, List<Assignment> assignments) {
    for (int i = 0; i < job.podSets().size(); i++) {
      CachedJob.PodSet ours = job.podSets().get(i);
      CachedWorkload.PodSet theirs = workload.spec().podSets().get(i);
      int given = theirs.minCount().isPresent() ? assigned(theirs, assignments) : theirs.count();
      if (ours.count() != given || !sameTemplate(ours, theirs, false)) {
        return false;
      }
    }
    return true;
  }

  /**
   * The count that a pod set was started with, which may be any from its least count on. The count
   * of any other pod set stays, though those of its pods that have ended already need no quota when
   * it is admitted again.
   */
  private static int assigned(CachedWorkload.PodSet podSet, List<Assignment> assignments) {
    return assignments.stream()
        .filter(assignment -> assignment.name().equals(podSet.name()))
        .mapToInt(assignment -> Math.min(assignment.count(), podSet.count()))
        .findFirst()
        .orElse(podSet.count());
  }

  private static boolean sameTemplate(
      CachedJob.PodSet ours, CachedWorkload.PodSet theirs, boolean withTolerations) {
    return withTolerations
        ? ours.fingerprint().full().equals(theirs.template().fingerprint())
        : ours.fingerprint()
            .withoutTolerations()
            .equals(theirs.template().fingerprintWithoutTolerations());
  }
}
