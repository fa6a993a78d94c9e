package dev.sluice.checks.multikueue.remote;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Keeps one value per connected worker: creates it when the worker gets a connection, and disposes
 * of it when the connection is replaced or lost. Thread-safe.
 *
 * @param <T> the type of the value
 */
public final class ConnectionScope<T> implements AutoCloseable {

  private record Entry<T>(WorkerReader reader, T what) {}

  private final Function<WorkerReader, T> begin;
  private final Consumer<T> end;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Entry<T>> entries = new HashMap<>();
  private boolean closed;

  /**
   * Creates an empty scope.
   *
   * @param begin creates the value for a connection
   * @param end disposes of a value
   */
  public ConnectionScope(Function<WorkerReader, T> begin, Consumer<T> end) {
    this.begin = begin;
    this.end = end;
  }

  /**
   * Replaces the connection of a cluster; disposes of the value if there is none. Asks for the
   * connection itself, so that of several calls at a time the last one goes by the present state.
   */
  public void follow(String cluster, Supplier<Optional<WorkerReader>> present) {
    lock.lock();
    try {
      Optional<WorkerReader> reader = present.get();
      Entry<T> before = entries.get(cluster);
      if (before != null && reader.filter(it -> it == before.reader()).isPresent()) {
        return;
      }
      if (before != null) {
        end.accept(before.what());
        entries.remove(cluster);
      }
      if (reader.isPresent() && !closed) {
        entries.put(cluster, new Entry<>(reader.get(), begin.apply(reader.get())));
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
