package dev.sluice.app.module;

import io.javaoperatorsdk.operator.Operator;
import java.io.IOException;
import java.security.GeneralSecurityException;

/**
 * A part of the operator with a life cycle. {@code ModuleLifecycle} calls the methods in the order
 * in which they are declared here. A constructor connects the module to the modules that it needs,
 * and starts nothing.
 */
public interface OperatorModule extends AutoCloseable {

  /** Registers the module's reconcilers; called once, before any module is started. */
  default void register(Operator operator) {}

  /**
   * Starts threads, servers and watches; returns when the module's caches are listed.
   *
   * @param cacheSync waits for caches, each for a limited time
   * @throws IOException when a cache is not listed in time, or an address can't be bound
   */
  default void start(CacheSyncWaiter cacheSync) throws IOException, GeneralSecurityException {}

  /** This process leads from now on, and the Workload cache is up to date; called at most once. */
  default void leadershipStarted() {}

  /**
   * This process is about to end or doesn't lead any more: decides nothing new. Called from any
   * thread, possibly more than once; must not block.
   */
  default void leadershipEnded() {}

  /**
   * Stops writing; returns when writes in flight have ended, or after a limited time. Called before
   * the lease is released, in the reverse order of starting.
   */
  default void stop() {}

  /**
   * Releases what the module holds. Called after the lease was released, in the reverse order of
   * starting, whether or not the module was started.
   */
  @Override
  default void close() {}
}
