package dev.sluice.kubequeue;

import dev.sluice.kubequeue.QuotaPlan.Mapping;
import dev.sluice.kubequeue.QuotaPlan.Named;
import dev.sluice.kubequeue.QuotaPlan.Place;
import dev.sluice.kubequeue.SourceMark.Identity;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Which LocalQueue a job uses that names none: that of the quota that its label names, else that of
 * its namespace's quota. Usable from any thread.
 */
public final class QuotaQueues {

  /** The labels by which a job names a quota; the first that it has counts. */
  public static final List<String> QUOTA_LABELS =
      List.of(
          "quota.scheduling.alibabacloud.com/name",
          "quota.scheduling.koordinator.sh/name",
          "alibabacloud.com/quota-name");

  private final boolean anywhere;
  private final AtomicReference<Mapping> mapping = new AtomicReference<>(Mapping.NONE);
  private final AtomicReference<Set<Place>> requested = new AtomicReference<>(Set.of());
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private final List<Runnable> requests = new CopyOnWriteArrayList<>();

  /** {@code anywhere} says whether a label may name a quota that doesn't list the namespace. */
  QuotaQueues(boolean anywhere) {
    this.anywhere = anywhere;
  }

  /** Adds a listener that is called when answers may have changed. */
  public void listen(Runnable listener) {
    listeners.add(listener);
  }

  /** Whether the namespace belongs to a quota. */
  public boolean isMapped(String namespace) {
    return mapping.get().byNamespace().containsKey(namespace);
  }

  /**
   * The LocalQueue of a job; empty if it has none, or none yet: then one is made if the job may
   * have it, and listeners are told.
   *
   * @param labels of the job
   */
  public Optional<String> localQueue(String namespace, Map<String, String> labels) {
    Mapping current = mapping.get();
    Optional<Identity> quota = quota(current, namespace, labels);
    if (quota.isEmpty()) {
      return Optional.empty();
    }
    Place place = new Place(namespace, quota.get());
    Optional<String> queue = current.localQueue(place);
    if (queue.isEmpty()) {
      request(place);
    }
    return queue;
  }

  private Optional<Identity> quota(Mapping current, String namespace, Map<String, String> labels) {
    for (String label : QUOTA_LABELS) {
      String name = labels.get(label);
      if (name != null) {
        Named named = current.byName().get(name);
        boolean allowed = named != null && (anywhere || named.namespaces().contains(namespace));
        return allowed ? Optional.of(named.quota()) : Optional.empty();
      }
    }
    return Optional.ofNullable(current.byNamespace().get(namespace));
  }

  private void request(Place place) {
    Set<Place> before;
    Set<Place> after;
    do {
      before = requested.get();
      if (before.contains(place)) {
        return;
      }
      after = new HashSet<>(before);
      after.add(place);
    } while (!requested.compareAndSet(before, Set.copyOf(after)));
    requests.forEach(Runnable::run);
  }

  /** Adds a listener that is called when a job needs a LocalQueue that isn't there. */
  void onRequest(Runnable listener) {
    requests.add(listener);
  }

  /** The LocalQueues that jobs needed. */
  Set<Place> requested() {
    return requested.get();
  }

  /** Answers by this mapping from now on. */
  void publish(Mapping current) {
    if (!mapping.getAndSet(current).equals(current)) {
      listeners.forEach(Runnable::run);
    }
  }
}
