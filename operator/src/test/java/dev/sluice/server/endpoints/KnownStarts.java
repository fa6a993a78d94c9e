package dev.sluice.server.endpoints;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.starts.StartEstimate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Expected starts that a test says, the same for all queues. */
final class KnownStarts implements VisibilityEndpoint.Starts {

  final Map<WorkloadId, StartEstimate> estimates = new HashMap<>();

  /** The questions: the queue, and how long the question waits. */
  final List<String> questions = new ArrayList<>();

  @Override
  public Map<WorkloadId, StartEstimate> ofClusterQueue(String name, Duration patience) {
    questions.add(name + " " + patience);
    return estimates;
  }

  @Override
  public Map<WorkloadId, StartEstimate> ofLocalQueue(LocalQueueId queue, Duration patience) {
    questions.add(queue.namespace() + "/" + queue.name() + " " + patience);
    return estimates;
  }
}
