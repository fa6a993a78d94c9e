package dev.sluice.app;

import dev.sluice.api.config.KubeQueue;

/**
 * Queues from the quotas of Kube Queue, and the intake of jobs without a queue name. Does nothing
 * unless the configuration turns it on.
 */
final class KubeQueueModule implements OperatorModule {

  private final KubeQueue configuration;

  /** Connected, and not started. */
  KubeQueueModule(OperatorContext context) {
    configuration = context.configuration().kubeQueue();
  }

  /** Whether the configuration turns it on. */
  boolean enabled() {
    return configuration.enabled();
  }
}
