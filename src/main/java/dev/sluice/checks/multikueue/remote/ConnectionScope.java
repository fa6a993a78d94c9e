package dev.sluice.checks.multikueue.remote;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Keeps one value per connected worker: creates it when the worker gets a client, and disposes of
 * it when the client is replaced or lost. Thread-safe.
 *
 * @param <T> the type of the value
 */
public final class ConnectionScope<T> implements AutoCloseable {

  private record Entry<T>(KubernetesClient client, T what) {}

  private final BiFunction<String, KubernetesClient, T> begin;
  private final Consumer<T> end;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Entry<T>> entries = new HashMap<>();
  private boolean closed;

  /**
   * Creates an empty scope.
   *
   * @param begin creates the value from the cluster's name and client
   * @param end disposes of a value
   */
  public ConnectionScope(BiFunction<String, KubernetesClient, T> begin, Consumer<T> end) {
    this.begin = begin;
    this.end = end;
  }

  /** Replaces the client of a cluster; disposes of the value if the client is empty. */
  public void follow(String cluster, Optional<KubernetesClient> client) {
    lock.lock();
    try {
      Entry<T> before = entries.get(cluster);
      if (before != null && client.filter(it -> it == before.client()).isPresent()) {
        return;
      }
      if (before != null) {
        end.accept(before.what());
        entries.remove(cluster);
      }
      if (client.isPresent() && !closed) {
        entries.put(cluster, new Entry<>(client.get(), begin.apply(cluster, client.get())));
      }
    } finally {
      lock.unlock();
    }
  }

  /** The present values, by cluster. */
  public Map<String, T> now() {
    lock.lock();
    try {
      return entries.entrySet().stream()
          .collect(Collectors.toMap(Map.Entry::getKey, each -> each.getValue().what()));
    } finally {
      lock.unlock();
    }
  }

  /** Disposes of all values; no value is created afterwards. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      entries.values().forEach(each -> end.accept(each.what()));
      entries.clear();
    } finally {
      lock.unlock();
    }
  }
}
