package dev.sluice.queues;

import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.FinalizerEditor;
import dev.sluice.kube.controller.LeaderAwareReconciler;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.leader.Leadership;
import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * Reconciles an object that other objects refer to: adds the finalizer, and removes it when the
 * object is deleted and no longer in use.
 *
 * @param <P> the kind
 */
abstract class InUseFinalizerReconciler<P extends HasMetadata> extends LeaderAwareReconciler<P> {

  private final ApiClient writer;

  InUseFinalizerReconciler(
      Leadership leadership, ReconcileTrigger<P> reconcileTrigger, ApiClient writer) {
    super(leadership, reconcileTrigger);
    this.writer = writer;
  }

  /** Whether another object refers to this object. */
  abstract boolean inUse(String name);

  /** Reports warnings about the object; by default none. */
  void warnings(P object) {}

  @Override
  protected Step reconcileObject(P object) {
    boolean held = FinalizerEditor.present(object);
    if (!object.isMarkedForDeletion()) {
      warnings(object);
      return held
          ? new Step.Done()
          : after(object, writer.patch(object, FinalizerEditor.add(object)));
    }
    if (held && !inUse(object.getMetadata().getName())) {
      return after(object, writer.patch(object, FinalizerEditor.remove(object)));
    }
    return new Step.Done();
  }
}
