package dev.sluice.jobs.controller;

import dev.sluice.jobs.kind.JobRef;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;

/** Where people are told what happened to a job. Never blocks, never fails. */
public interface JobEvents {

  /** Something that was meant to happen. */
  void normal(JobRef job, String reason, String note);

  /** Something that somebody should look at. */
  void warning(JobRef job, String reason, String note);

  /**
   * A Workload was created for a job that was not changed since it was created.
   *
   * @param localQueue the name of the LocalQueue in the job's namespace
   */
  default void workloadCreated(JobRef job, String localQueue, Duration sinceJobCreation) {}

  /** A scheduling gate of this name was removed from a pod of an admitted Workload. */
  default void gateRemoved(CachedWorkload workload, String gate) {}
}
