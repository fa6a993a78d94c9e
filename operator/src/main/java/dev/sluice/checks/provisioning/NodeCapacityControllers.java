package dev.sluice.checks.provisioning;

import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckSpec;
import dev.sluice.checks.controller.ActiveCondition;
import dev.sluice.checks.controller.CheckConditionReconciler;
import dev.sluice.checks.controller.CheckConditionReconciler.AdmissionCheckController;
import dev.sluice.checks.provisioning.ProvisioningControllers.ProvisioningChecks;
import dev.sluice.kube.controller.ControllerRegistration;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.queues.mapping.CheckControllerDescription;
import dev.sluice.workload.record.WorkloadListener;
import io.javaoperatorsdk.operator.Operator;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The reconcilers of checks that ask for nodes by CapacityBuffers or placeholder pods, and of
 * Workloads that have one.
 */
public final class NodeCapacityControllers implements AutoCloseable {

  private final ProvisioningControllers.Dependencies dependencies;
  private final ObservableItemStore<AdmissionCheck> checks = new ObservableItemStore<>();
  private final ReconcileTrigger<AdmissionCheck> checkTrigger =
      new ReconcileTrigger<>("node-capacity");
  private final HolderInformers holders;
  private final NodeCapacityReconciler workloadReconciler;
  private final CheckConditionReconciler conditions;
  private volatile boolean leading;

  /** Creates the reconcilers and informers without registering or starting them. */
  public NodeCapacityControllers(ProvisioningControllers.Dependencies dependencies) {
    this.dependencies = dependencies;
    holders =
        new HolderInformers(
            dependencies.reflectors(),
            dependencies.definitions(),
            this::holderChanged,
            this::reconcileAll);
    workloadReconciler =
        new NodeCapacityReconciler(
            new NodeCapacityReconciler.Dependencies(
                checks::find,
                dependencies.workloads(),
                dependencies.flavors(),
                dependencies.writer(),
                dependencies.events(),
                () -> leading && dependencies.leadership().leading(),
                dependencies.clock(),
                dependencies.queue()),
            holders,
            new RequestWriter(dependencies.requests(), NodeCapacityAnnotations.CONTROLLER));
    conditions =
        new CheckConditionReconciler(
            new AlwaysActive(),
            dependencies.leadership(),
            checkTrigger,
            dependencies.requests(),
            dependencies.mapper(),
            dependencies.clock());
    checks.observe(this::checkChanged);
  }

  private void holderChanged(@Nullable CapacityHolder before, @Nullable CapacityHolder after) {
    workloadReconciler.holderChanged(before, after);
  }

  private void checkChanged(@Nullable AdmissionCheck before, @Nullable AdmissionCheck after) {
    if (after != null && ProvisioningChecks.NODE_CAPACITY.isOf(after)) {
      holders.need();
      workloadReconciler.enqueueAll();
    } else if (before != null && ProvisioningChecks.NODE_CAPACITY.isOf(before)) {
      workloadReconciler.enqueueAll();
    }
  }

  private void reconcileAll() {
    checks.all().stream()
        .filter(ProvisioningChecks.NODE_CAPACITY::isOf)
        .forEach(check -> checkTrigger.signal(check.getMetadata().getName()));
    workloadReconciler.enqueueAll();
  }

  /** The listener that the reader of Workloads is to call. */
  public WorkloadListener workloadListener() {
    return workloadReconciler;
  }

  /** Registers the reconciler of checks. */
  public void register(Operator operator) {
    ControllerRegistration.register(
        operator,
        "node-capacity-admissioncheck",
        conditions,
        checks,
        dependencies.queue().concurrency().limit(AdmissionCheck.class));
  }

  /** Called when this process becomes leader: reconciles every object once. */
  public void leadershipStarted() {
    leading = true;
    reconcileAll();
  }

  /** Called when this process ends or doesn't lead any more. */
  public void leadershipEnded() {
    leading = false;
  }

  /** Waits for writes for a limited time; nothing is written any more. */
  public void stop() {
    workloadReconciler.close();
  }

  /** Stops the informers; the operator stops the reconciler of checks. */
  @Override
  public void close() {
    holders.close();
  }

  /** A check of this controller names nothing that could be missing. */
  private static final class AlwaysActive implements AdmissionCheckController {

    @Override
    public CheckControllerDescription description() {
      return ProvisioningChecks.NODE_CAPACITY;
    }

    @Override
    public Optional<ActiveCondition> condition(AdmissionCheckSpec check) {
      return Optional.of(new ActiveCondition(true, "Active", "The check can be used"));
    }
  }
}
