package dev.sluice.visibility;

import dev.sluice.core.engine.SchedulerQueries.BackfillReport;
import dev.sluice.core.model.PlannedStart;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.stream.Collectors;

/** What back-fill means to a pending Workload, in words (docs/backfill.md#what-is-shown). */
public final class BackfillText {

  private BackfillText() {}

  /** The line that {@code explain} shows. */
  public static String line(BackfillReport report) {
    String own = report.own().map(BackfillText::planned).orElse("no start is planned");
    return own + report.first().map(first -> behind(first, report)).orElse("");
  }

  private static String planned(PlannedStart start) {
    String text = "planned to start by %s at the latest".formatted(seconds(start.at()));
    return start.lateBy().isEmpty()
        ? text
        : text
            + " (was %s, later by %s)"
                .formatted(
                    seconds(start.promised()),
                    start.lateBy().stream()
                        .map(PlannedStart.LateCause::text)
                        .collect(Collectors.joining(", ")));
  }

  private static String behind(PlannedStart first, BackfillReport report) {
    String text =
        ", behind %s/%s, which is planned to start by %s"
            .formatted(first.id().namespace(), first.id().name(), seconds(first.at()));
    Optional<Instant> until = report.startsBeforeUntil();
    if (until.isPresent()) {
      return text + "; may run before it if it starts by " + seconds(until.get());
    }
    return report.needsBound()
        ? text + "; may not run before it, because it has no limit of its run time"
        : text + "; may run before it only on what is not planned, because its run time is unknown";
  }

  private static Instant seconds(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS);
  }
}
