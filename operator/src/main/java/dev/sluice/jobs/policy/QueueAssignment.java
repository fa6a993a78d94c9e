package dev.sluice.jobs.policy;

/** The LocalQueue that a job without a queue name belongs to. */
public sealed interface QueueAssignment {

  /** The job belongs to none: it is left alone. */
  record Unassigned() implements QueueAssignment {}

  /** The job belongs to a LocalQueue of its namespace, which exists. */
  record ToLocalQueue(String name) implements QueueAssignment {}

  /**
   * The job names a quota that it can't have for now. It is left alone, and people are told.
   *
   * @param message what is named, and why it can't be had
   */
  record NotAvailable(String message) implements QueueAssignment {}

  /**
   * The job's LocalQueue is being made: it is looked for again after a while.
   *
   * @param problem why it couldn't be made the last time; empty if nothing is known of that
   */
  record Pending(String problem) implements QueueAssignment {}
}
