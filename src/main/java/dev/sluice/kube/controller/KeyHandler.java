package dev.sluice.kube.controller;

import java.time.Duration;
import java.util.Optional;

/**
 * Handles one key of a {@link WorkQueue}.
 *
 * @param <K> the key
 */
@FunctionalInterface
public interface KeyHandler<K> {

  /**
   * Brings the object of a key to its desired state. The queue calls this method for one key on one
   * thread at a time. A runtime exception makes the queue retry the key with back-off.
   *
   * @return the delay after which the key is handled again even if nothing enqueues it; empty if
   *     only an event should bring it back
   * @throws InterruptedException if the worker is asked to stop
   */
  Optional<Duration> handle(K key) throws InterruptedException;
}
