package dev.sluice.api.queueing;

import dev.sluice.api.queueing.QueueAnnotations.PriorityAging;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a ClusterQueue says about the start of its Workloads
 * (docs/queueing-policies.md#start-time-out).
 *
 * @param timeout how long an admitted Workload may take until its pods are ready; empty: as the
 *     configuration says
 * @param backoff the pause after a start that took too long
 * @param blocksUntilReady whether other Workloads of the queue wait for the pods of admitted ones
 * @param aging how the priority of waiting Workloads grows; empty: it doesn't
 */
public record StartRules(
    Optional<Duration> timeout,
    Duration backoff,
    boolean blocksUntilReady,
    Optional<PriorityAging> aging) {

  /** As the configuration says. */
  public static final StartRules NONE =
      new StartRules(
          Optional.empty(), QueueAnnotations.DEFAULT_START_BACKOFF, false, Optional.empty());

  /** The rules that the annotations of a ClusterQueue say. */
  public static StartRules of(@Nullable Map<String, String> annotations) {
    if (annotations == null
        || (!annotations.containsKey(QueueAnnotations.START_TIMEOUT)
            && !annotations.containsKey(QueueAnnotations.BLOCK_UNTIL_READY)
            && !annotations.containsKey(QueueAnnotations.PRIORITY_AGING))) {
      return NONE;
    }
    QueueAnnotations.OfClusterQueue read = QueueAnnotations.ofClusterQueue(annotations);
    return new StartRules(
        read.startTimeout(), read.startBackoff(), read.rules().blocksUntilReady(), read.aging());
  }

  /** The same rules without ageing. */
  public StartRules withoutAging() {
    return aging.isEmpty()
        ? this
        : new StartRules(timeout, backoff, blocksUntilReady, Optional.empty());
  }

  /** Whether somebody waits for the pods of the queue's Workloads. */
  public boolean awaitPods() {
    return timeout.isPresent() || blocksUntilReady;
  }
}
