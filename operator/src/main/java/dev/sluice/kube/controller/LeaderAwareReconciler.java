package dev.sluice.kube.controller;

import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ConflictBackoff;
import dev.sluice.kube.leader.Leadership;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all reconcilers here have in common: only the leader acts, a deleted object is forgotten, a
 * write that fails is tried again, and what the API server refuses is logged and let be.
 *
 * @param <P> the kind
 */
public abstract class LeaderAwareReconciler<P extends HasMetadata> implements Reconciler<P> {

  private static final Logger LOG = LoggerFactory.getLogger(LeaderAwareReconciler.class);

  /** How long after a failed write it is tried again. */
  private static final Duration LATER = Duration.ofSeconds(2);

  private final Leadership leadership;
  private final ReconcileTrigger<P> reconcileTrigger;
  private final ConflictBackoff<ResourceID> conflicts = new ConflictBackoff<>();
  private Semaphore running = new Semaphore(Integer.MAX_VALUE);

  /** A reconciler that also acts on {@code signals}. */
  protected LeaderAwareReconciler(Leadership leadership, ReconcileTrigger<P> reconcileTrigger) {
    this.leadership = leadership;
    this.reconcileTrigger = reconcileTrigger;
  }

  /** Brings one object up to date; returns what became of the last write, if there was one. */
  protected abstract Step reconcileObject(P object);

  /** The object is gone. */
  protected void forget(P object) {}

  @Override
  public List<EventSource<?, P>> prepareEventSources(EventSourceContext<P> context) {
    return List.of(reconcileTrigger);
  }

  /** Sets how many objects are reconciled at a time; to be called before the registration. */
  final void limitConcurrency(int limit) {
    running = new Semaphore(limit, true);
  }

  /** Waits while as many objects as are allowed are being reconciled. */
  @Override
  public UpdateControl<P> reconcile(P object, Context<P> context) throws InterruptedException {
    running.acquire();
    try {
      return reconcileNow(object, context);
    } finally {
      running.release();
    }
  }

  private UpdateControl<P> reconcileNow(P object, Context<P> context) {
    ResourceID id = ResourceID.fromResource(object);
    if (context.isPrimaryResourceDeleted()) {
      conflicts.reset(id);
      forget(object);
      return UpdateControl.noUpdate();
    }
    if (!leadership.leading()) {
      return UpdateControl.noUpdate();
    }
    return switch (reconcileObject(object)) {
      case Step.Done() -> {
        conflicts.reset(id);
        yield UpdateControl.noUpdate();
      }
      case Step.Requeue(Duration delay) -> UpdateControl.<P>noUpdate().rescheduleAfter(delay);
    };
  }

  /** What to do after a write. */
  protected Step after(P object, ApiOutcome outcome) {
    return switch (outcome) {
      case ApiOutcome.Written written -> new Step.Done();
      case ApiOutcome.Gone gone -> new Step.Done();
      case ApiOutcome.Conflict conflict ->
          new Step.Requeue(conflicts.next(ResourceID.fromResource(object)));
      case ApiOutcome.Unreachable unreachable -> {
        LOG.debug("{} write failed reason=\"{}\"", name(object), unreachable.message());
        yield new Step.Requeue(LATER);
      }
      case ApiOutcome.Refused refused -> {
        LOG.warn(
            "{} write refused code={} reason=\"{}\"",
            name(object),
            refused.code(),
            refused.message());
        yield new Step.Done();
      }
    };
  }

  /** The generation of an object's spec; 0 where the server doesn't count. */
  protected static long generation(HasMetadata object) {
    Long generation = object.getMetadata().getGeneration();
    return generation == null ? 0 : generation;
  }

  private static String name(HasMetadata object) {
    String namespace = object.getMetadata().getNamespace();
    return object.getKind()
        + " "
        + (namespace == null ? "" : namespace + "/")
        + object.getMetadata().getName();
  }

  /** How a reconciliation ended. */
  protected sealed interface Step {

    /** Nothing is left to do until something changes. */
    record Done() implements Step {}

    /** It is to be tried again after a while. */
    record Requeue(Duration delay) implements Step {}
  }
}
