package dev.sluice.app;

import io.javaoperatorsdk.operator.Operator;

/** The Java Operator SDK: runs the reconcilers that the modules have registered. */
final class ReconcilerFrameworkModule implements OperatorModule {

  private final Operator operator;

  ReconcilerFrameworkModule(Operator operator) {
    this.operator = operator;
  }

  /** Returns when the objects of all reconcilers are listed. */
  @Override
  public void start(CacheSyncWaiter cacheSync) {
    operator.start();
  }

  @Override
  public void stop() {
    operator.stop();
  }
}
