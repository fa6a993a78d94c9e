package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Keys;
import dev.sluice.checks.multikueue.placement.Local;
import java.util.List;

/** Whether jobs are marked as ones that run in other clusters. */
final class JobMarks {

  private JobMarks() {}

  static Local.Sendable sendable(SentKind kind, JsonNode job) {
    return switch (kind.pods()) {
      case NONE -> marked(kind, job);
      case ITSELF -> gated(job);
      case MADE -> new Local.Sendable.Yes();
    };
  }

  /** What has no mark may only be sent as long as its gate keeps it from running here. */
  static Local.Sendable gated(JsonNode pod) {
    for (JsonNode gate : pod.path("spec").path("schedulingGates")) {
      if (gate.path("name").asText().equals(Keys.ADMISSION_GATE)) {
        return new Local.Sendable.Yes();
      }
    }
    return PodStatuses.ended(pod)
        ? new Local.Sendable.Yes()
        : new Local.Sendable.No(
            "spec.schedulingGates of pod %s has no %s; it may run in this cluster, and isn't sent"
                .formatted(pod.path("metadata").path("name").asText(), Keys.ADMISSION_GATE));
  }

  private static Local.Sendable marked(SentKind kind, JsonNode job) {
    List<String> told =
        kind.managedBy().stream().map(path -> JobCopies.at(job, path).asText()).toList();
    return told.contains(Keys.MULTIKUEUE) || RemoteStatus.isFor(kind, job)
        ? new Local.Sendable.Yes()
        : new Local.Sendable.No(
            "%s is \"%s\"; allowed for jobs that are sent to worker clusters: %s"
                .formatted(
                    String.join(".", kind.managedBy().getFirst()),
                    told.getFirst(),
                    Keys.MULTIKUEUE));
  }
}
