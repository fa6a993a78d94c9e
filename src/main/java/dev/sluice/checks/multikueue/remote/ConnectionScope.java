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
 * What goes on in workers as long as each is connected: it begins with its name and a client, and
 * ends when that is another one, or gone. Usable from any thread.
 *
 * @param <T> what goes on in one worker
 */
public final class ConnectionScope<T> implements AutoCloseable {

  private record Going<T>(KubernetesClient client, T what) {}

  private final BiFunction<String, KubernetesClient, T> begin;
  private final Consumer<T> end;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Going<T>> going = new HashMap<>();
  private boolean closed;

  /** Nothing goes on yet. */
  public ConnectionScope(BiFunction<String, KubernetesClient, T> begin, Consumer<T> end) {
    this.begin = begin;
    this.end = end;
  }

  /** It goes on by this client from now on; not at all if it is empty. */
  public void follow(String cluster, Optional<KubernetesClient> client) {
    lock.lock();
    try {
      Going<T> before = going.get(cluster);
      if (before != null && client.filter(it -> it == before.client()).isPresent()) {
        return;
      }
      if (before != null) {
        end.accept(before.what());
        going.remove(cluster);
      }
      if (client.isPresent() && !closed) {
        going.put(cluster, new Going<>(client.get(), begin.apply(cluster, client.get())));
      }
    } finally {
      lock.unlock();
    }
  }

  /** What goes on now, by cluster. */
  public Map<String, T> now() {
    lock.lock();
    try {
      return going.entrySet().stream()
          .collect(Collectors.toMap(Map.Entry::getKey, each -> each.getValue().what()));
    } finally {
      lock.unlock();
    }
  }

  /** Ends everything; nothing begins any more. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      going.values().forEach(each -> end.accept(each.what()));
      going.clear();
    } finally {
      lock.unlock();
    }
  }
}
