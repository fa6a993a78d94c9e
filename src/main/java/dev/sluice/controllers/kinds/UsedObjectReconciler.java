package dev.sluice.controllers.kinds;

import dev.sluice.controllers.Leadership;
import dev.sluice.controllers.MergePatches;
import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * An object that others name: it carries the finalizer, and is held until nobody names it any more.
 *
 * @param <P> the kind
 */
abstract class UsedObjectReconciler<P extends HasMetadata> extends LeaderReconciler<P> {

  private final MergePatches writer;

  UsedObjectReconciler(Leadership leadership, Signals<P> signals, MergePatches writer) {
    super(leadership, signals);
    this.writer = writer;
  }

  /** Whether another object names this one. */
  abstract boolean inUse(String name);

  /** Says what people should know about the object; nothing unless a kind has something to say. */
  void remark(P object) {}

  @Override
  protected Step step(P object) {
    boolean held = Finalizers.present(object);
    if (!object.isMarkedForDeletion()) {
      remark(object);
      return held ? new Step.Done() : after(object, writer.patch(object, Finalizers.add(object)));
    }
    if (held && !inUse(object.getMetadata().getName())) {
      return after(object, writer.patch(object, Finalizers.remove(object)));
    }
    return new Step.Done();
  }
}
