package dev.sluice.forecast.play;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Share;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Users;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.play.Play.PlayListener;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class PlayTest {

  private static final Instant BEGIN = OneQueue.BEGIN;
  private static final Duration GRACE = Duration.ofSeconds(30);

  private final Map<String, Duration> lasts = new LinkedHashMap<>();
  private final List<String> story = new ArrayList<>();

  private Play play(PreemptionPolicies preemption) {
    return new Play(
        OneQueue.source(preemption),
        BEGIN,
        1,
        (id, run) -> Optional.ofNullable(lasts.get(id.name())),
        GRACE,
        new PlayListener() {
          @Override
          public void started(Decision.Admit admission, int run) {
            told(admission.at(), admission.id().name() + " starts " + run);
          }

          @Override
          public void ended(WorkloadId id, Instant at) {
            told(at, id.name() + " ends");
          }

          @Override
          public void preempted(WorkloadId id, String reason, Instant at) {
            told(at, id.name() + " preempted " + reason);
          }
        });
  }

  private void told(Instant at, String what) {
    story.add(Duration.between(BEGIN, at).toMinutes() + "m " + what);
  }

  private void arrives(Play play, String name, int minute, int cpus, int minutes, long priority) {
    Instant at = BEGIN.plus(Duration.ofMinutes(minute));
    if (minutes > 0) {
      lasts.put(name, Duration.ofMinutes(minutes));
    }
    play.arrives(at, OneQueue.workload(name, cpus, priority, at));
  }

  @Test
  void startsAreWhereOthersEnd() {
    Play play = play(PreemptionPolicies.NEVER);
    arrives(play, "first", 0, 3, 60, 0);
    arrives(play, "second", 1, 3, 30, 0);
    arrives(play, "small", 2, 1, 10, 0);

    play.run(Instant.MAX, () -> false);

    assertThat(story)
        .containsExactly(
            "0m first starts 1",
            "2m small starts 1",
            "12m small ends",
            "60m first ends",
            "60m second starts 1",
            "90m second ends");
    assertThat(play.live()).isZero();
    assertThat(play.now()).isEqualTo(BEGIN.plus(Duration.ofMinutes(90)));
  }

  @Test
  void preemptedWorkloadsStartAnewWhenTheirPodsHaveStopped() {
    Play play =
        play(
            new PreemptionPolicies(
                WithinClusterQueue.LOWER_PRIORITY,
                ReclaimWithinCohort.NEVER,
                false,
                OptionalInt.empty()));
    arrives(play, "low", 0, 4, 60, 0);
    arrives(play, "high", 10, 4, 20, 5);

    play.run(Instant.MAX, () -> false);

    assertThat(story)
        .containsExactly(
            "0m low starts 1",
            "10m low preempted InClusterQueue",
            "10m high starts 1",
            "30m high ends",
            "30m low starts 2",
            "90m low ends");
  }

  @Test
  void nothingIsPlayedBeyondTheHorizonOrWhenEnoughWasSeen() {
    Play play = play(PreemptionPolicies.NEVER);
    arrives(play, "first", 0, 4, 60, 0);
    arrives(play, "second", 1, 4, 60, 0);

    play.run(BEGIN.plus(Duration.ofMinutes(59)), () -> false);
    assertThat(story).containsExactly("0m first starts 1");

    play.run(Instant.MAX, () -> story.contains("60m second starts 1"));
    assertThat(story).containsExactly("0m first starts 1", "60m first ends", "60m second starts 1");
  }

  @Test
  void whatNeverEndsLetsNobodyStart() {
    Play play = play(PreemptionPolicies.NEVER);
    arrives(play, "endless", 0, 4, 0, 0);
    arrives(play, "second", 1, 4, 60, 0);

    play.run(Instant.MAX, () -> false);

    assertThat(story).containsExactly("0m endless starts 1");
    assertThat(play.live()).isEqualTo(2);
  }

  @Test
  void reservationsEvictAndAreOver() {
    Play play =
        play(
            new PreemptionPolicies(
                WithinClusterQueue.LOWER_PRIORITY,
                ReclaimWithinCohort.NEVER,
                false,
                OptionalInt.empty()));
    arrives(play, "long", 0, 4, 60, 0);
    Instant start = BEGIN.plus(Duration.ofMinutes(10));
    play.happens(
        BEGIN,
        new SchedulerEvent.ReservationsChanged(
            List.of(
                new ReservedCapacity(
                    "demo",
                    new Scope.OfQueue("cq", List.of(new Share("any", "cpu", 4_000))),
                    Users.NOBODY,
                    false,
                    List.of(new Occurrence(start, start.plus(Duration.ofMinutes(10))))))),
        at -> {});

    play.run(Instant.MAX, () -> false);

    assertThat(story)
        .containsExactly(
            "0m long starts 1",
            "10m long preempted CapacityReserved",
            "20m long starts 2",
            "80m long ends");
  }
}
