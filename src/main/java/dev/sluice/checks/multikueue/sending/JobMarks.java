package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Keys;
import dev.sluice.checks.multikueue.placement.Local;

/** Whether jobs are marked as ones that run in other clusters. */
final class JobMarks {

  private JobMarks() {}

  static Local.Sendable sendable(SentKind kind, JsonNode job) {
    String by = JobCopies.at(job, kind.managedBy()).asText();
    return by.equals(Keys.MULTIKUEUE)
        ? new Local.Sendable.Yes()
        : new Local.Sendable.No(
            "%s is \"%s\"; allowed for jobs that are sent to worker clusters: %s"
                .formatted(String.join(".", kind.managedBy()), by, Keys.MULTIKUEUE));
  }
}
