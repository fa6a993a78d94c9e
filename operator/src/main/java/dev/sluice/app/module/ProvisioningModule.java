package dev.sluice.app.module;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.app.module.SchedulingEventRecorder.WorkloadReference;
import dev.sluice.checks.provisioning.NodeCapacityControllers;
import dev.sluice.checks.provisioning.ProvisioningControllers;
import dev.sluice.checks.provisioning.ProvisioningControllers.RequestOptions;
import dev.sluice.jobs.controller.CachedJobLookups;
import dev.sluice.kube.definitions.ServedDefinitions;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.workload.record.CachedWorkload;
import io.javaoperatorsdk.operator.Operator;

/** Admission checks that have an autoscaler provide nodes. */
public final class ProvisioningModule implements OperatorModule {

  private static final int REQUESTS_AT_A_TIME = 8;

  private final EventRecorder events;
  private final ProvisioningControllers controllers;
  private final NodeCapacityControllers capacity;

  /**
   * Connected to the Workloads that {@code workloads} reads.
   *
   * @param definitions shared with others; not closed with the module
   */
  public ProvisioningModule(
      OperatorContext context,
      InformerModule informers,
      WorkloadModule workloads,
      ServedDefinitions definitions) {
    events = context.events();
    ProvisioningControllers.Dependencies dependencies =
        new ProvisioningControllers.Dependencies(
            context.reflectors(),
            context.informers(),
            context.leadership(),
            context.requests(REQUESTS_AT_A_TIME),
            JsonMappers.JSON,
            definitions,
            workloads.cache(),
            workloads.writer(),
            new CachedJobLookups(informers.caches(), JsonMappers.JSON),
            this::record,
            new RequestOptions(
                context.isEnabled(FeatureGate.CLEANUP_PROVISIONING_REQUESTS_ON_EVICTION),
                context.isEnabled(FeatureGate.ENFORCE_PROVISIONING_POD_TEMPLATE_CONTENTS),
                context.isEnabled(
                    FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES_FOR_PROVISIONING_REQUESTS)),
            context.clock(),
            context.workQueues());
    controllers = new ProvisioningControllers(dependencies);
    workloads.reflector().listen(controllers.workloadListener());
    capacity = new NodeCapacityControllers(dependencies);
    workloads.reflector().listen(capacity.workloadListener());
  }

  private void record(CachedWorkload workload, boolean warning, String reason, String note) {
    events.record(
        WorkloadReference.of(workload.id()),
        warning ? EventRecorder.Type.WARNING : EventRecorder.Type.NORMAL,
        reason,
        "Provision",
        note);
  }

  @Override
  public void register(Operator operator) {
    controllers.register(operator);
    capacity.register(operator);
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) {
    controllers.start();
  }

  @Override
  public void leadershipStarted() {
    controllers.leadershipStarted();
    capacity.leadershipStarted();
  }

  @Override
  public void leadershipEnded() {
    controllers.leadershipEnded();
    capacity.leadershipEnded();
  }

  @Override
  public void stop() {
    controllers.stop();
    capacity.stop();
  }

  @Override
  public void close() {
    controllers.close();
    capacity.close();
  }
}
