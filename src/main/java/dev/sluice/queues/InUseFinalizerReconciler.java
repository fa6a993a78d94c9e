package dev.sluice.queues;

import dev.sluice.kube.client.ApiPatcher;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.reconcile.FinalizerEditor;
import dev.sluice.kube.reconcile.LeaderAwareReconciler;
import dev.sluice.kube.reconcile.ReconcileTrigger;
import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * An object that others name: it carries the finalizer, and is held until nobody names it any more.
 *
 * @param <P> the kind
 */
abstract class InUseFinalizerReconciler<P extends HasMetadata> extends LeaderAwareReconciler<P> {

  private final ApiPatcher writer;

  InUseFinalizerReconciler(
      Leadership leadership, ReconcileTrigger<P> reconcileTrigger, ApiPatcher writer) {
    super(leadership, reconcileTrigger);
    this.writer = writer;
  }

  /** Whether another object names this one. */
  abstract boolean inUse(String name);

  /** Says what people should know about the object; nothing unless a kind has something to say. */
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
