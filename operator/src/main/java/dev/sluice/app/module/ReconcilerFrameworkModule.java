package dev.sluice.app.module;

import io.javaoperatorsdk.operator.Operator;
import java.io.IOException;

/** The Java Operator SDK: runs the reconcilers that the modules have registered. */
public final class ReconcilerFrameworkModule implements OperatorModule {

  private final Operator operator;

  /** Runs the reconcilers of {@code operator}; nothing runs before the module starts. */
  public ReconcilerFrameworkModule(Operator operator) {
    this.operator = operator;
  }

  /**
   * Returns when the objects of all reconcilers are listed and watched. A listing or watch that
   * fails is repeated: the framework calls its informer unhealthy until then, so one failure at the
   * start is not the end of the start.
   */
  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    operator.start();
    cacheSync.await("all kinds", operator.getRuntimeInfo()::allEventSourcesAreHealthy);
  }

  @Override
  public void stop() {
    operator.stop();
  }
}
