package dev.sluice.app.module;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.recovery.FailureRecoveryController;
import java.io.IOException;
import java.util.Optional;

/** Deletes pods of unreachable nodes by force, if its feature gate is on; reads nothing if not. */
public final class FailureRecoveryModule implements OperatorModule {

  private static final int WRITES_AT_A_TIME = 8;

  private final Optional<FailureRecoveryController> controller;
  private volatile boolean leading;

  /** Not started. */
  public FailureRecoveryModule(OperatorContext context) {
    controller =
        context.isEnabled(FeatureGate.FAILURE_RECOVERY_POLICY)
            ? Optional.of(
                new FailureRecoveryController(
                    new FailureRecoveryController.Dependencies(
                        context.reflectors(),
                        context.requests(WRITES_AT_A_TIME),
                        context.events(),
                        () -> leading && context.leadership().leading()),
                    context.workQueues().ofKind("", "Pod")))
            : Optional.empty();
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    if (controller.isPresent()) {
      cacheSync.await("terminating pods and unreachable nodes", controller.get().start());
    }
  }

  @Override
  public void leadershipStarted() {
    leading = true;
    controller.ifPresent(FailureRecoveryController::leadershipStarted);
  }

  @Override
  public void leadershipEnded() {
    leading = false;
  }

  @Override
  public void stop() {
    controller.ifPresent(FailureRecoveryController::stop);
  }

  @Override
  public void close() {
    controller.ifPresent(FailureRecoveryController::close);
  }
}
