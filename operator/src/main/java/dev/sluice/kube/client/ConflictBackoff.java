package dev.sluice.kube.client;

import com.google.common.base.Ticker;
import com.google.common.cache.CacheBuilder;
import java.time.Duration;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * How long to wait after a conflict before an object is looked at again: 200 ms at first, because
 * by then the cache usually has the newer version, and twice as long after each further conflict in
 * a row, up to about six seconds. A minute without a conflict ends the row. From any thread.
 *
 * @param <K> what names an object
 */
public final class ConflictBackoff<K> {

  private static final Duration FIRST = Duration.ofMillis(200);
  private static final int MOST_DOUBLINGS = 5;

  /** Nobody says of every object that it is gone. */
  private static final Duration MEMORY = Duration.ofMinutes(1);

  private final Map<K, Integer> conflicts;

  /** No object had a conflict yet. */
  public ConflictBackoff() {
    this(System::nanoTime);
  }

  /** The same by another clock. */
  ConflictBackoff(LongSupplier nanoTime) {
    this.conflicts =
        CacheBuilder.newBuilder()
            .concurrencyLevel(1)
            .expireAfterWrite(MEMORY)
            .ticker(
                new Ticker() {
                  @Override
                  public long read() {
                    return nanoTime.getAsLong();
                  }
                })
            .<K, Integer>build()
            .asMap();
  }

  /** Of how many objects conflicts are remembered. */
  int remembered() {
    return conflicts.size();
  }

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
