package dev.sluice.core.engine;

import dev.sluice.core.model.SchedulerEvent;

/** Accepts events for the engine, from any thread. */
public interface SchedulerEventSink {

  /**
   * Appends an event to the mailbox, after the events that this thread submitted before. Never
   * blocks.
   */
  void submit(SchedulerEvent schedulerEvent);
}
