package dev.sluice.engine;

import dev.sluice.model.Fact;

/** Where facts are put for the engine, from any thread. */
public interface EngineMailbox {

  /** Puts a fact behind those put before by this thread. Never blocks. */
  void submit(Fact fact);
}
