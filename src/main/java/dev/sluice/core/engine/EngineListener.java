package dev.sluice.core.engine;

import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;

/**
 * Listener for everything that the engine's decisions depend on, and for the decisions, in order.
 * Called on the engine's thread; must neither block nor throw.
 */
public interface EngineListener {

  /** A round starts: no event is being applied, and no cycle runs. */
  void roundStarts(Engine engine);

  /** The engine applies this event next. */
  void applies(SchedulerEvent event);

  /** The engine runs a cycle next, which may evaluate nothing. */
  void cycles();

  /** The engine has decided. */
  void decided(Decision decision);
}
