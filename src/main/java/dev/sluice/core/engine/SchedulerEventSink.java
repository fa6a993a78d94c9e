package dev.sluice.core.engine;

import dev.sluice.core.model.SchedulerEvent;

/** Where facts are put for the engine, from any thread. */
public interface SchedulerEventSink {

  /** Puts a fact behind those put before by this thread. Never blocks. */
  void submit(SchedulerEvent schedulerEvent);
}
