package dev.sluice.core.engine;

import dev.sluice.core.model.LocalQueueId;
import java.util.Set;

/** Is told which views were published anew, or removed. Called on the engine's thread: be brief. */
public interface ViewListener {

  /** These queues and cohorts have new views, or none any more. */
  void changed(Set<String> clusterQueues, Set<LocalQueueId> localQueues, Set<String> cohorts);
}
