package dev.sluice.jobs.recovery;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.Predicate;

/**
 * Decides which pods are deleted by force: those that should have ended a minute ago, and whose
 * node is unreachable. See docs/workload-lifecycle.md#pods-of-unreachable-nodes.
 */
final class ForcefulDeletionPolicy {

  /** How long the node may take to say that a pod has ended, once its grace period is over. */
  static final Duration PATIENCE = Duration.ofMinutes(1);

  private final InstantSource clock;
  private final Predicate<String> unreachable;

  /** What is done with a pod. */
  sealed interface Decision {

    /** Nothing, until the pod or its node changes. */
    record Ignore() implements Decision {}

    /** Nothing for so long. */
    record Wait(Duration delay) implements Decision {}

    /** Its phase is set to Failed, and then it is deleted. */
    record Fail() implements Decision {}

    /** It is deleted; it ended by itself, or its phase was set before. */
    record Delete() implements Decision {}
  }

  /**
   * A policy by this clock.
   *
   * @param unreachable whether a node exists and has the taint of unreachable nodes
   */
  ForcefulDeletionPolicy(InstantSource clock, Predicate<String> unreachable) {
    this.clock = clock;
    this.unreachable = unreachable;
  }

  /** The decision about a pod. */
  Decision of(TerminatingPod pod) {
    if ((pod.forced() || pod.ended()) && pod.gracePeriod().isZero()) {
      // The deletion by force was accepted; finalizers may follow.
      return new Decision.Ignore();
    }
    if (pod.forced()) {
      return new Decision.Delete();
    }
    if (!unreachable.test(pod.node())) {
      return new Decision.Ignore();
    }
    Instant due = pod.deletionTime().plus(PATIENCE);
    Duration left = Duration.between(clock.instant(), due);
    if (left.isPositive()) {
      return new Decision.Wait(left);
    }
    return pod.ended() ? new Decision.Delete() : new Decision.Fail();
  }
}
