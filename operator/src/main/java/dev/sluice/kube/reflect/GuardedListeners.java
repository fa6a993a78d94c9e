package dev.sluice.kube.reflect;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listeners of a cache, each called by itself: one that throws, even an error, keeps neither the
 * cache from going on nor the other listeners from being called. A call that failed is repeated
 * once, at once, so that calls stay in order; a second failure is logged and counted. From any
 * thread.
 *
 * @param <L> the listener
 */
public final class GuardedListeners<L> {

  private static final Logger LOG = LoggerFactory.getLogger(GuardedListeners.class);
  private static final int ATTEMPTS = 2;

  private final List<L> listeners = new CopyOnWriteArrayList<>();
  private final AtomicLong failures = new AtomicLong();

  /** Adds a listener for later calls. */
  public void add(L listener) {
    listeners.add(listener);
  }

  /** Takes a listener out; it is not called any more, except by a call that has begun already. */
  public void remove(L listener) {
    listeners.remove(listener);
  }

  /** How many calls failed for good. */
  public long failures() {
    return failures.get();
  }

  /**
   * Calls every listener, in the order in which they were added.
   *
   * @param about what they are told of, for the log
   */
  public void tell(Object about, Consumer<? super L> call) {
    for (L listener : listeners) {
      tell(about, listener, call);
    }
  }

  private void tell(Object about, L listener, Consumer<? super L> call) {
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        call.accept(listener);
        return;
      } catch (Throwable e) {
        if (attempt == ATTEMPTS) {
          LOG.error(
              "listener={} object={} told=false failures={}",
              listener.getClass().getSimpleName(),
              about,
              failures.incrementAndGet(),
              e);
        }
      }
    }
  }
}
