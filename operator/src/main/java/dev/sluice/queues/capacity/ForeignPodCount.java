package dev.sluice.queues.capacity;

import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * What pods request that aren't queued: counted once for all providers, by whoever asks first after
 * it was said to count again. Thread-safe.
 */
final class ForeignPodCount {

  private final Supplier<Optional<Map<String, SortedMap<String, Long>>>> count;
  private final ReentrantLock lock = new ReentrantLock();
  private Optional<Map<String, SortedMap<String, Long>>> counted = Optional.empty();

  /**
   * Nothing is counted yet.
   *
   * @param count walks all pods; empty while they aren't listed, which isn't remembered
   */
  ForeignPodCount(Supplier<Optional<Map<String, SortedMap<String, Long>>>> count) {
    this.count = count;
  }

  /** The requests, by node and resource; empty while the pods aren't listed. */
  Optional<Map<String, SortedMap<String, Long>>> requests() {
    lock.lock();
    try {
      if (counted.isEmpty()) {
        counted = count.get();
      }
      return counted;
    } finally {
      lock.unlock();
    }
  }

  /** Forgets what was counted. */
  void countAgain() {
    lock.lock();
    try {
      counted = Optional.empty();
    } finally {
      lock.unlock();
    }
  }
}
