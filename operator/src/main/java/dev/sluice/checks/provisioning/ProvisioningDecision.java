package dev.sluice.checks.provisioning;

import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.PodSetUpdate;
import java.util.List;

/** What is to be done about one check of a Workload. */
sealed interface ProvisioningDecision {

  /** Nothing. */
  record Keep() implements ProvisioningDecision {}

  /** The request doesn't exist, and is to be created. */
  record CreateRequest(String name) implements ProvisioningDecision {}

  /**
   * The request can't serve: it is deleted before a new one is created.
   *
   * @param reason why, for the log
   */
  record DeleteRequest(CachedRequest request, String reason) implements ProvisioningDecision {}

  /**
   * The name of the request is taken by an object of somebody else, who is not told of changes of
   * that object: the check waits, and is looked at again.
   */
  record NameTaken(String message) implements ProvisioningDecision {}

  /**
   * The check is to have this state.
   *
   * @param state one of the states of {@link CheckState}
   * @param requeueAfterSeconds the pause before the next attempt; -1 for none
   * @param podSetUpdates additions to the pods
   */
  record SetState(
      String state, String message, int requeueAfterSeconds, List<PodSetUpdate> podSetUpdates)
      implements ProvisioningDecision {

    /** A state without additions to the pods. */
    static SetState of(String state, String message) {
      return new SetState(state, message, -1, List.of());
    }
  }
}
