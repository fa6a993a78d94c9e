package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Keys;
import dev.sluice.checks.multikueue.placement.Local;
import java.util.List;

/** Whether jobs are marked as ones that run in other clusters. */
final class JobMarks {

  private JobMarks() {}

  static Local.Sendable sendable(SentKind kind, JsonNode job) {
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
