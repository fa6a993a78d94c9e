package dev.sluice.jobs.controller;

import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Remembers what was written until the caches show it, so that nothing is decided twice from what
 * was known before. A write that is not seen within some seconds is forgotten.
 */
final class Expectations {

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Map<String, Expected> byJobUid = new ConcurrentHashMap<>();
  private final InstantSource clock;
  private final AtomicReference<Instant> nextSweep;

  Expectations(InstantSource clock) {
    this.clock = clock;
    this.nextSweep = new AtomicReference<>(clock.instant());
  }

  private record Expected(
      long jobVersion, String workload, long workloadVersion, boolean created, Instant until) {}

  /** The job was written: this version or a later one will come. */
  void job(JobRef job, long version) {
    sweep();
    byJobUid.merge(
        job.uid(),
        new Expected(version, "", 0, false, clock.instant().plus(PATIENCE)),
        (old, now) ->
            new Expected(
                version, old.workload(), old.workloadVersion(), old.created(), now.until()));
  }

  /** A Workload of the job was created, in this version. */
  void created(JobRef job, String workload, long version) {
    workload(job, workload, version, true);
  }

  /** A Workload of the job was changed: this version or a later one will come, or it will go. */
  void changed(JobRef job, String workload, long version) {
    workload(job, workload, version, false);
  }

  private void workload(JobRef job, String workload, long version, boolean created) {
    sweep();
    byJobUid.merge(
        job.uid(),
        new Expected(0, workload, version, created, clock.instant().plus(PATIENCE)),
        (old, now) -> new Expected(old.jobVersion(), workload, version, created, now.until()));
  }

  /** Whether something written for this job can't be seen yet. */
  boolean unseen(CachedJob job, WorkloadLister store) {
    Expected expected = byJobUid.get(job.ref().uid());
    if (expected == null) {
      return false;
    }
    boolean overdue = clock.instant().isAfter(expected.until());
    if (overdue || (jobSeen(job, expected) && workloadSeen(job, expected, store))) {
      byJobUid.remove(job.ref().uid());
      return false;
    }
    return true;
  }

  private static boolean jobSeen(CachedJob job, Expected expected) {
    return job.version() >= expected.jobVersion();
  }

  private static boolean workloadSeen(CachedJob job, Expected expected, WorkloadLister store) {
    if (expected.workload().isEmpty()) {
      return true;
    }
    Optional<CachedWorkload> known = store.get(job.ref().namespace(), expected.workload());
    return known
        .map(workload -> workload.version() >= expected.workloadVersion())
        .orElse(!expected.created());
  }

  /** Drops what nobody asked for any more: of jobs that went before their write was noted. */
  private void sweep() {
    Instant now = clock.instant();
    Instant due = nextSweep.get();
    if (now.isAfter(due) && nextSweep.compareAndSet(due, now.plus(PATIENCE))) {
      byJobUid.values().removeIf(expected -> now.isAfter(expected.until()));
    }
  }

  /** The job is gone. */
  void forget(String jobUid) {
    byJobUid.remove(jobUid);
  }
}
