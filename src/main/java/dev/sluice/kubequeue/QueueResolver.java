package dev.sluice.kubequeue;

import dev.sluice.api.KubeQueueKeys;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds the queue of a job that names none: its quota label, else its namespace, gives the quota;
 * an annotation may then choose another queue that lists this quota. A label that names no quota is
 * not replaced by the namespace: the job would be charged to a quota that nobody named.
 */
final class QueueResolver {

  private static final String QUEUE_NAME = "queue-name";
  private static final String ANY = "*";

  private QueueResolver() {}

  /**
   * A ClusterQueue that was made from a quota.
   *
   * @param clusterQueue its name
   * @param quota the name of the quota
   * @param path the full name of the quota in its tree; empty if it is in none
   * @param listed the names of other quotas whose jobs may choose it; {@code *} is any
   */
  record QuotaQueue(String clusterQueue, String quota, String path, List<String> listed) {

    QuotaQueue {
      listed = List.copyOf(listed);
    }

    private boolean isNamed(String name) {
      return name.equals(quota) || name.equals(path);
    }

    private boolean lists(QuotaQueue other) {
      return listed.stream().anyMatch(name -> name.equals(ANY) || other.isNamed(name));
    }
  }

  /** The queue of a job. */
  sealed interface Resolution {

    /** Nothing says that the job is to be queued. */
    record Unmapped() implements Resolution {}

    /** The label names a quota that there isn't. */
    record UnknownQuota(String name) implements Resolution {}

    /** The job belongs to the queue of a quota. */
    record Found(QuotaQueue queue) implements Resolution {}
  }

  /**
   * The queue of a job.
   *
   * @param labels those of the job
   * @param annotations those of the job
   * @param namespaceQueue the name of the ClusterQueue of the job's namespace, if it has one
   * @param queues all that were made from quotas
   */
  static Resolution resolve(
      Map<String, String> labels,
      Map<String, String> annotations,
      Optional<String> namespaceQueue,
      List<QuotaQueue> queues) {
    Optional<String> label = KubeQueueKeys.quotaName(labels);
    Optional<QuotaQueue> own =
        label.isPresent()
            ? byQuota(label.get(), queues)
            : namespaceQueue.flatMap(name -> byName(name, queues));
    if (own.isEmpty()) {
      return label
          .<Resolution>map(Resolution.UnknownQuota::new)
          .orElseGet(Resolution.Unmapped::new);
    }
    return new Resolution.Found(
        KubeQueueKeys.annotation(annotations, QUEUE_NAME)
            .flatMap(name -> byName(name, queues))
            .filter(chosen -> chosen.lists(own.get()))
            .orElse(own.get()));
  }

  private static Optional<QuotaQueue> byName(String clusterQueue, List<QuotaQueue> queues) {
    return queues.stream().filter(queue -> queue.clusterQueue().equals(clusterQueue)).findFirst();
  }

  /** Names of quotas are unique in a tree; of several trees the first by name is meant. */
  private static Optional<QuotaQueue> byQuota(String name, List<QuotaQueue> queues) {
    return queues.stream()
        .filter(queue -> queue.isNamed(name))
        .min(Comparator.comparing(QuotaQueue::clusterQueue));
  }
}
