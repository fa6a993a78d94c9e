package dev.sluice.app;

import dev.sluice.app.module.CacheSyncWaiter;
import dev.sluice.app.module.OperatorModule;
import io.javaoperatorsdk.operator.Operator;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes modules through their life cycle. A step of the shutdown that fails is logged and does not
 * prevent the steps after it; the lease is released in any case.
 */
final class ModuleLifecycle implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ModuleLifecycle.class);

  private final List<OperatorModule> modules;
  private final AutoCloseable lease;
  private final AutoCloseable context;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final ReentrantLock leadership = new ReentrantLock();
  private volatile boolean over;

  /**
   * Modules that are not registered yet.
   *
   * @param modules in the order of starting
   * @param lease closing it gives the leadership to another process
   * @param context what all modules share; closed last
   */
  ModuleLifecycle(List<OperatorModule> modules, AutoCloseable lease, AutoCloseable context) {
    this.modules = List.copyOf(modules);
    this.lease = lease;
    this.context = context;
  }

  /** Registers the reconcilers of all modules. */
  void register(Operator operator) {
    modules.forEach(module -> module.register(operator));
  }

  /**
   * Starts all modules in order. When one can't be started, everything is closed as {@link #close}
   * does before the exception is thrown.
   *
   * @throws IOException when a cache is not listed in time, or an address can't be bound
   */
  void start(CacheSyncWaiter cacheSync) throws IOException, GeneralSecurityException {
    boolean started = false;
    try {
      for (OperatorModule module : modules) {
        module.start(cacheSync);
      }
      started = true;
    } finally {
      if (!started) {
        close();
      }
    }
  }

  /**
   * Tells all modules that this process leads; fails when one of them does. Leadership ends once
   * and for all: a module isn't told of its start after its end.
   *
   * @return false if leadership ended before all modules were told
   */
  boolean leadershipStarted() {
    for (OperatorModule module : modules) {
      leadership.lock();
      try {
        if (over) {
          return false;
        }
        module.leadershipStarted();
      } finally {
        leadership.unlock();
      }
    }
    return true;
  }

  /** Tells all modules that nothing is to be decided any more. */
  void leadershipEnded() {
    over = true;
    leadership.lock();
    try {
      for (OperatorModule module : modules) {
        runStep("end of leadership", module, module::leadershipEnded);
      }
    } finally {
      leadership.unlock();
    }
  }

  /** Whether {@link #close} was called. */
  boolean closing() {
    return closed.get();
  }

  /**
   * Ends everything, once: nothing new is decided, the modules stop writing, the lease is released,
   * the modules are closed. Another process decides as soon as it holds the lease, so that no write
   * of this one may be in flight by then.
   */
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    try {
      leadershipEnded();
      for (OperatorModule module : modules.reversed()) {
        runStep("stop", module, module::stop);
      }
    } finally {
      runStep("release", "lease", lease);
    }
    for (OperatorModule module : modules.reversed()) {
      runStep("close", module, module);
    }
    runStep("close", "context", context);
  }

  private static void runStep(String step, Object target, AutoCloseable action) {
    runStep(step, target.getClass().getSimpleName(), action);
  }

  private static void runStep(String step, String target, AutoCloseable action) {
    try {
      action.close();
    } catch (Exception e) {
      LOG.error("shutdown step=\"{}\" target={} result=failed", step, target, e);
    }
  }
}
