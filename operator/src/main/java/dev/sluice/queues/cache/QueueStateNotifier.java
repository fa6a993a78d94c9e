package dev.sluice.queues.cache;

import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.AdmissionChecksStrategy;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.queues.mapping.ClusterQueueMapper;
import dev.sluice.workload.lifecycle.QueueStateListener;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Tells a {@link QueueStateListener} when a queue's stop policy, existence, admission checks,
 * ageing or flavors change. Changes of other fields are not passed on, because they never change
 * what is due for a Workload.
 */
public final class QueueStateNotifier {

  private final InformerCaches caches;
  private final QueueStateListener listener;

  private QueueStateNotifier(InformerCaches caches, QueueStateListener listener) {
    this.caches = caches;
    this.listener = listener;
  }

  /** Subscribes {@code listener} to the queues of {@code caches}. */
  public static void connect(InformerCaches caches, QueueStateListener listener) {
    QueueStateNotifier notifier = new QueueStateNotifier(caches, listener);
    caches.localQueues().observe(notifier::localQueueChanged);
    caches.clusterQueues().observe(notifier::clusterQueueChanged);
  }

  private void localQueueChanged(@Nullable LocalQueue before, @Nullable LocalQueue after) {
    LocalQueue queue = after == null ? before : after;
    if (queue != null && CachedQueues.state(before) != CachedQueues.state(after)) {
      notifyListener(queue);
    }
  }

  private void clusterQueueChanged(@Nullable ClusterQueue before, @Nullable ClusterQueue after) {
    ClusterQueue queue = after == null ? before : after;
    if (queue == null || isTheSame(before, after)) {
      return;
    }
    String name = queue.getMetadata().getName();
    listener.clusterQueueChanged(name);
    caches.localQueues().all().stream()
        .filter(local -> CachedQueues.clusterQueue(local).equals(name))
        .forEach(this::notifyListener);
  }

  private void notifyListener(LocalQueue queue) {
    listener.localQueueChanged(queue.getMetadata().getNamespace(), queue.getMetadata().getName());
  }

  private static boolean isTheSame(@Nullable ClusterQueue before, @Nullable ClusterQueue after) {
    return CachedQueues.state(before) == CachedQueues.state(after)
        && before != null
        && after != null
        && Objects.equals(strategy(before), strategy(after))
        && annotation(before, QueueAnnotations.CHECK_SELECTORS)
            .equals(annotation(after, QueueAnnotations.CHECK_SELECTORS))
        && annotation(before, QueueAnnotations.PRIORITY_AGING)
            .equals(annotation(after, QueueAnnotations.PRIORITY_AGING))
        && ClusterQueueMapper.flavors(before).equals(ClusterQueueMapper.flavors(after));
  }

  private static String annotation(ClusterQueue queue, String name) {
    Map<String, String> annotations = queue.getMetadata().getAnnotations();
    return annotations == null ? "" : annotations.getOrDefault(name, "");
  }

  private static @Nullable AdmissionChecksStrategy strategy(ClusterQueue queue) {
    return queue.getSpec() == null ? null : queue.getSpec().admissionChecksStrategy();
  }
}
