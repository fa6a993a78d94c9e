package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.checks.multikueue.placement.ManagerState;
import java.util.List;

/** Checks whether a job is marked as managed by MultiKueue. */
final class ManagedByCheck {

  private ManagedByCheck() {}

  static ManagerState.Sendable sendable(MultiKueueKind kind, JsonNode job) {
    return switch (kind.pods()) {
      case NONE -> marked(kind, job);
      case ITSELF -> gated(job);
      case MADE, MADE_IN_GROUPS -> new ManagerState.Sendable.Yes();
    };
  }

  /**
   * A pod without a mark may be dispatched only while its scheduling gate keeps it from running in
   * the manager.
   */
  static ManagerState.Sendable gated(JsonNode pod) {
    return isGated(pod) || PodStatuses.ended(pod)
        ? new ManagerState.Sendable.Yes()
        : new ManagerState.Sendable.No(
            "spec.schedulingGates of pod %s has no %s; it may run in this cluster, and isn't sent"
                .formatted(
                    pod.path("metadata").path("name").asText(), KueueConstants.ADMISSION_GATE));
  }

  /** Whether a pod waits at the gate that keeps it from being scheduled before it may run. */
  static boolean isGated(JsonNode pod) {
    for (JsonNode gate : pod.path("spec").path("schedulingGates")) {
      if (gate.path("name").asText().equals(KueueConstants.ADMISSION_GATE)) {
        return true;
      }
    }
    return false;
  }

  private static ManagerState.Sendable marked(MultiKueueKind kind, JsonNode job) {
    List<String> managedByValues =
        kind.managedBy().stream().map(path -> RemoteJobFactory.at(job, path).asText()).toList();
    return managedByValues.contains(KueueConstants.MULTIKUEUE) || RemoteStatus.isFor(kind, job)
        ? new ManagerState.Sendable.Yes()
        : new ManagerState.Sendable.No(
            "%s is \"%s\"; allowed for jobs that are sent to worker clusters: %s"
                .formatted(
                    String.join(".", kind.managedBy().getFirst()),
                    managedByValues.getFirst(),
                    KueueConstants.MULTIKUEUE));
  }
}
