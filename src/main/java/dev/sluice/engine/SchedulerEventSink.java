package dev.sluice.engine;

import dev.sluice.model.SchedulerEvent;

/** Where facts are put for the engine, from any thread. */
public interface SchedulerEventSink {

  /** Puts a fact behind those put before by this thread. Never blocks. */
  void submit(SchedulerEvent schedulerEvent);
}
