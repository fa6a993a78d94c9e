package dev.sluice.workload.lifecycle;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The result of reconciling a Workload.
 *
 * @param action the write to send now; empty if no write is needed
 * @param reconcileAt the time at which the Workload is reconciled again even if it doesn't change;
 *     empty without such a time
 */
public record LifecycleAction(Optional<Action> action, Optional<Instant> reconcileAt) {

  /** No write, and no time for another reconciliation. */
  public static final LifecycleAction NOTHING =
      new LifecycleAction(Optional.empty(), Optional.empty());

  static LifecycleAction of(Action action) {
    return new LifecycleAction(Optional.of(action), Optional.empty());
  }

  /**
   * Combines two results: if this one has no write, the write of the other one, and the earlier of
   * both times.
   */
  LifecycleAction or(Supplier<LifecycleAction> other) {
    if (action.isPresent()) {
      return this;
    }
    LifecycleAction next = other.get();
    Optional<Instant> soonest =
        Stream.of(reconcileAt, next.reconcileAt())
            .flatMap(Optional::stream)
            .min(Comparator.naturalOrder());
    return new LifecycleAction(next.action(), soonest);
  }

  /** Whether there is no write and no time for another reconciliation. */
  public boolean isNothing() {
    return action.isEmpty() && reconcileAt.isEmpty();
  }

  /** One write. */
  public sealed interface Action {

    /** A short description of the write, for the log. */
    String change();
  }

  /**
   * Patch the status.
   *
   * @param status the merge patch of {@code .status}
   * @param eventSpec the events to record after the write succeeded
   */
  public record PatchStatus(ObjectNode status, String change, List<EventSpec> eventSpec)
      implements Action {
    public PatchStatus {
      eventSpec = List.copyOf(eventSpec);
    }
  }

  /** Set {@code spec.active} to false. */
  public record Deactivate(String change) implements Action {}

  /** Set annotations. */
  public record Annotate(Map<String, String> annotations, String change) implements Action {
    public Annotate {
      annotations = Map.copyOf(annotations);
    }
  }

  /** Delete the Workload. */
  public record Delete(String change, List<EventSpec> eventSpec) implements Action {
    public Delete {
      eventSpec = List.copyOf(eventSpec);
    }
  }

  /** Remove the finalizer that keeps the Workload until its job has stopped. */
  public record RemoveFinalizer(String change) implements Action {}

  /**
   * An event about the Workload.
   *
   * @param warning whether the event has type Warning instead of Normal
   * @param reason the reason, one of docs/workload-semantics.md#events
   * @param note the message: one sentence
   */
  public record EventSpec(boolean warning, String reason, String note) {}
}
