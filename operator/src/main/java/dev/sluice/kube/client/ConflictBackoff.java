package dev.sluice.kube.client;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How long to wait after a conflict before an object is looked at again: 200 ms at first, because
 * by then the cache usually has the newer version, and twice as long after each further conflict in
 * a row, up to about six seconds. From any thread.
 *
 * @param <K> what names an object
 */
public final class ConflictBackoff<K> {

  private static final Duration FIRST = Duration.ofMillis(200);
  private static final int MOST_DOUBLINGS = 5;

  private final Map<K, Integer> conflicts = new ConcurrentHashMap<>();

  /** The pause after one more conflict of this object. */
  public Duration next(K key) {
    int before = conflicts.merge(key, 1, Integer::sum) - 1;
    return FIRST.multipliedBy(1L << Math.min(before, MOST_DOUBLINGS));
  }

  /** The object was written, or needs no write, or is gone. */
  public void reset(K key) {
    conflicts.remove(key);
  }
}
