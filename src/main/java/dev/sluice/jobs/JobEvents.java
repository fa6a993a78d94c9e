package dev.sluice.jobs;

/** Where people are told what happened to a job. Never blocks, never fails. */
public interface JobEvents {

  /** Something that was meant to happen. */
  void normal(JobRef job, String reason, String note);

  /** Something that somebody should look at. */
  void warning(JobRef job, String reason, String note);
}
