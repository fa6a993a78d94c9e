package dev.sluice.core.engine;

import dev.sluice.core.model.LocalQueueId;
import java.util.Set;

/** Listener for published views. Called on the engine's thread: must return quickly. */
public interface ViewListener {

  /** Called when views of these queues and cohorts were replaced or removed. */
  void changed(Set<String> clusterQueues, Set<LocalQueueId> localQueues, Set<String> cohorts);
}
