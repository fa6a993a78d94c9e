package dev.sluice.visibility;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.SchedulerQueries.BackfillReport;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.PlannedStart.LateCause;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.visibility.ExplanationText.BackfillText;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The line of back-fill, as docs/backfill.md shows it. */
class BackfillTextTest {

  private static final Instant AT = Instant.parse("2026-01-01T14:20:00.5Z");
  private static final PlannedStart LARGE =
      new PlannedStart(new WorkloadId("uid", "team", "large"), AT, AT, List.of());

  @Test
  void whoIsPlannedIsToldWhen() {
    assertThat(line(Optional.of(LARGE), Optional.empty(), Optional.empty()))
        .isEqualTo("planned to start by 2026-01-01T14:20:00Z at the latest");
  }

  @Test
  void whoWasPlannedEarlierIsToldWhy() {
    PlannedStart late =
        new PlannedStart(
            LARGE.id(),
            AT.plusSeconds(60),
            AT,
            List.of(LateCause.RUN_BEYOND_BOUND, LateCause.QUOTA_REDUCED));
    assertThat(line(Optional.of(late), Optional.empty(), Optional.empty()))
        .isEqualTo(
            "planned to start by 2026-01-01T14:21:00Z at the latest (was 2026-01-01T14:20:00Z,"
                + " later by RunBeyondBound, QuotaReduced)");
  }

  @Test
  void whoIsBehindIsToldUntilWhenToStartBefore() {
    assertThat(line(Optional.empty(), Optional.of(LARGE), Optional.of(Duration.ofMinutes(20))))
        .isEqualTo(
            "no start is planned, behind team/large, which is planned to start by"
                + " 2026-01-01T14:20:00Z; may run before it if it starts by"
                + " 2026-01-01T14:00:00Z");
    assertThat(line(Optional.empty(), Optional.of(LARGE), Optional.empty()))
        .endsWith("; may not run before it, because it has no limit of its run time");
    assertThat(
            BackfillText.line(
                new BackfillReport(Optional.empty(), Optional.of(LARGE), Optional.empty(), false)))
        .endsWith(
            "; may run before it only on what is not planned, because its run time is unknown");
  }

  private static String line(
      Optional<PlannedStart> own, Optional<PlannedStart> first, Optional<Duration> bound) {
    return BackfillText.line(new BackfillReport(own, first, bound, true));
  }
}
