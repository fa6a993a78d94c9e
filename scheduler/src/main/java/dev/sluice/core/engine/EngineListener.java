package dev.sluice.core.engine;

import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;

/**
 * Listener for everything that the engine's decisions depend on, and for the decisions, in order.
 * Called on the engine's thread; must neither block nor throw.
 */
public interface EngineListener {

  /** Nobody listens. */
  EngineListener NONE = new EngineListener() {};

  /** A round starts: no event is being applied, and no cycle runs. */
  default void roundStarts(Engine engine) {}

  /** The engine applies this event next. */
  default void applies(SchedulerEvent event) {}

  /** The engine runs a cycle next, which may evaluate nothing. */
  default void cycles() {}

  /** A cycle has run, which may have evaluated nothing. */
  default void cycled(CycleStatistics statistics) {}

  /** The engine has decided. */
  default void decided(Decision decision) {}
}
