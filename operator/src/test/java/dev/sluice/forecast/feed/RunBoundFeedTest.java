package dev.sluice.forecast.feed;

import static dev.sluice.forecast.feed.RunWorkload.at;
import static dev.sluice.forecast.feed.RunWorkload.named;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The engine is told how long runs take at most (docs/backfill.md#bounds). */
class RunBoundFeedTest {

  private final List<RunBound> told = new ArrayList<>();
  private Optional<QueueRunTime> ofQueue = Optional.empty();
  private boolean used = true;

  private final RunBoundFeed feed =
      new RunBoundFeed(
          schedulerEvent -> told.add(((SchedulerEvent.RunBounded) schedulerEvent).bound()),
          new RunBounds(
              new RunTimeEstimator(
                      any -> Optional.empty(), any -> ofQueue, InstantSource.fixed(at(100)))
                  ::of,
              any -> Optional.empty()),
          () -> used);

  private static RunBound estimated(Duration length) {
    return new RunBound(Optional.empty(), Optional.empty(), Optional.of(length));
  }

  @Test
  void whatIsLearnedLaterIsToldOfWhoWaitsUnchanged() {
    CachedWorkload waiting = named("a").build();
    feed.changed(null, waiting);
    assertThat(told).isEmpty();

    ofQueue = Optional.of(new QueueRunTime(Duration.ofHours(2), "LocalQueue team/gpu"));
    feed.tellAll(List.of(waiting), any -> true);
    feed.tellAll(List.of(waiting), any -> true);

    assertThat(told).containsExactly(estimated(Duration.ofHours(2)));
  }

  /** Batch/v1 lets the deadline of a running Job change. */
  @Test
  void deadlineOfTheJobIsNoLimitThatTheOperatorEnforces() {
    RunWorkload brief = named("a").annotated(RunTimeAnnotations.DEADLINE, "600s");
    feed.changed(null, brief.build());
    feed.changed(null, brief.spec("maximumExecutionTimeSeconds", 7_200).ran(3_600).build());

    Duration deadline = Duration.ofMinutes(10);
    assertThat(told)
        .containsExactly(
            estimated(deadline),
            new RunBound(
                Optional.of(Duration.ofHours(1)), Optional.empty(), Optional.of(deadline)));
    RunBound byDeadline = told.getFirst();
    assertThat(byDeadline.under(UnknownRunTime.REFUSE)).isEmpty();
    assertThat(byDeadline.under(UnknownRunTime.USE_LIMIT)).isEmpty();
    assertThat(byDeadline.under(UnknownRunTime.USE_LEARNED)).contains(deadline);
  }

  @Test
  void anOldVersionIsNotToldAgain() {
    CachedWorkload waiting = named("a").build();
    ofQueue = Optional.of(new QueueRunTime(Duration.ofHours(2), "LocalQueue team/gpu"));
    feed.tellAll(List.of(waiting), any -> false);
    feed.tellAll(List.of(named("b").finished("Succeeded", 90).build()), any -> true);
    assertThat(told).isEmpty();
  }

  @Test
  void whereNobodyPlansNothingIsTold() {
    used = false;
    ofQueue = Optional.of(new QueueRunTime(Duration.ofHours(2), "LocalQueue team/gpu"));
    feed.changed(null, named("a").build());
    assertThat(told).isEmpty();
  }
}
