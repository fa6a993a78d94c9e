package dev.sluice.app;

import io.javaoperatorsdk.operator.Operator;
import java.io.IOException;

/** The Java Operator SDK: runs the reconcilers that the modules have registered. */
final class ReconcilerFrameworkModule implements OperatorModule {

  private final Operator operator;

  ReconcilerFrameworkModule(Operator operator) {
    this.operator = operator;
  }

  /**
   * Returns when the objects of all reconcilers are listed. A listing that fails is repeated until
   * the framework's time is over; the framework starts nevertheless then, but this module doesn't.
   */
  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    operator.start();
    if (!operator.getRuntimeInfo().allEventSourcesAreHealthy()) {
      throw new IOException("not all kinds could be listed within " + cacheSync.patience());
    }
  }

  @Override
  public void stop() {
    operator.stop();
  }
}
