package dev.sluice.checks.multikueue.dispatch;

import dev.sluice.api.config.MultiKueue;

/** Creates the dispatcher that the configuration names. */
public final class DispatcherFactory {

  private static final int STEP = 3;

  private DispatcherFactory() {}

  /**
   * The dispatcher of the configured name; an unknown name is that of an external dispatcher.
   *
   * @param configOrder the gate MultiKueueIncrementalDispatcherRespectConfigOrder
   */
  public static Dispatcher of(MultiKueue configuration, boolean configOrder) {
    return switch (configuration.dispatcherName()) {
      case MultiKueue.ALL_AT_ONCE -> new Dispatcher.AllAtOnce();
      case MultiKueue.INCREMENTAL ->
          new Dispatcher.Incremental(configuration.incrementalStepSize().orElse(STEP), configOrder);
      case MultiKueue.BEST_FIT -> new Dispatcher.BestFit();
      default -> new Dispatcher.External();
    };
  }
}
