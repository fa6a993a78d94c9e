package dev.sluice.workload.lifecycle;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * What a Workload needs now.
 *
 * @param action what to do at once; empty when all is as it should be
 * @param lookAgain when to look again even if nothing happens; empty when nothing is due
 */
public record LifecycleAction(Optional<Action> action, Optional<Instant> lookAgain) {

  /** Nothing to do, nothing to wait for. */
  public static final LifecycleAction NOTHING =
      new LifecycleAction(Optional.empty(), Optional.empty());

  static LifecycleAction of(Action action) {
    return new LifecycleAction(Optional.of(action), Optional.empty());
  }

  /** This, and looking again when the other is due too; what is to be done at once comes first. */
  LifecycleAction or(Supplier<LifecycleAction> other) {
    if (action.isPresent()) {
      return this;
    }
    LifecycleAction next = other.get();
    Optional<Instant> soonest =
        Stream.of(lookAgain, next.lookAgain())
            .flatMap(Optional::stream)
            .min(Comparator.naturalOrder());
    return new LifecycleAction(next.action(), soonest);
  }

  /** Whether there is nothing to do and nothing to wait for. */
  public boolean isNothing() {
    return action.isEmpty() && lookAgain.isEmpty();
  }

  /** One write. */
  public sealed interface Action {

    /** What it means, for the log. */
    String change();
  }

  /**
   * Patch the status.
   *
   * @param status the merge patch of {@code .status}
   * @param news what people are told once it stands
   */
  public record PatchStatus(ObjectNode status, String change, List<EventSpec> eventSpec)
      implements Action {
    public PatchStatus {
      eventSpec = List.copyOf(eventSpec);
    }
  }

  /** Set {@code spec.active} to false. */
  public record Deactivate(String change) implements Action {}

  /** Delete the Workload. */
  public record Delete(String change, List<EventSpec> eventSpec) implements Action {
    public Delete {
      eventSpec = List.copyOf(eventSpec);
    }
  }

  /** Take the finalizer off that keeps the Workload until its job has stopped. */
  public record RemoveFinalizer(String change) implements Action {}

  /**
   * An event about the Workload.
   *
   * @param warning whether people should look after it
   * @param reason one of docs/workload-semantics.md#events
   * @param note one sentence
   */
  public record EventSpec(boolean warning, String reason, String note) {}
}
