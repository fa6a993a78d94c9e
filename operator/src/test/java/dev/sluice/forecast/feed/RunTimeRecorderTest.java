package dev.sluice.forecast.feed;

import static dev.sluice.forecast.feed.RunWorkload.at;
import static dev.sluice.forecast.feed.RunWorkload.named;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.forecast.runtimes.FinishedRun.End;
import dev.sluice.forecast.runtimes.RunTimeGroup.Level;
import dev.sluice.forecast.runtimes.RunTimeHistory.Learned;
import dev.sluice.forecast.runtimes.RunTimeHistory.RunTimeOptions;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RunTimeRecorderTest {

  private final List<End> told = new ArrayList<>();

  private RunTimeRecorder recorder() {
    return new RunTimeRecorder(
        new RunTimeOptions(2, Duration.ofDays(30), 100),
        workload -> "research",
        Runnable::run,
        InstantSource.fixed(at(1_000)),
        told::add);
  }

  private static CachedWorkload finished(String name, int minute) {
    return named(name).admitted(minute - 30).finished("Succeeded", minute).build();
  }

  private static void runs(RunTimeRecorder recorder, String name, int minute) {
    recorder.changed(named(name).admitted(minute - 30).build(), finished(name, minute));
  }

  @Test
  void whatEndsIsLearnedForWhatWaits() {
    RunTimeRecorder recorder = recorder();
    recorder.synced();
    CachedWorkload waiting = named("train-22222").build();
    runs(recorder, "train-x7k2p", 40);
    assertThat(recorder.learned(waiting)).isEmpty();
    runs(recorder, "train-x7k2q", 41);

    Learned learned = recorder.learned(waiting).orElseThrow();
    assertThat(learned.level()).isEqualTo(Level.TEMPLATE);
    assertThat(learned.count()).isEqualTo(2);
    assertThat(learned.all().quantile(0.5)).isEqualTo(Duration.ofMinutes(30));
    assertThat(recorder.groups()).isEqualTo(4);
    assertThat(told).containsExactly(End.SUCCEEDED, End.SUCCEEDED);
  }

  @Test
  void anEvictedRunBelongsToTheClusterQueueThatAdmittedIt() {
    RunTimeRecorder recorder = recorder();
    recorder.synced();
    RunWorkload workload = named("a").admitted(0);
    CachedWorkload running = workload.build();
    recorder.changed(
        running,
        workload
            .released()
            .condition("Admitted", "False", "Evicted", 9)
            .condition("Evicted", "True", "Preempted", 9)
            .build());

    assertThat(told).containsExactly(End.EVICTED);
    assertThat(recorder.saved().groups())
        .anySatisfy(
            group -> {
              assertThat(group.group().level()).isEqualTo(Level.CLUSTER_QUEUE);
              assertThat(group.group().key()).isEqualTo("research");
            });
  }

  @Test
  void aRunOfAParentAndItsVariantIsOne() {
    RunTimeRecorder recorder = recorder();
    recorder.changed(null, named("old").variant().admitted(0).finished("Succeeded", 20).build());
    recorder.synced();
    runs(recorder, "a", 40);
    recorder.changed(
        named("a").variant().admitted(10).build(),
        named("a").variant().admitted(10).finished("Succeeded", 40).build());

    assertThat(told).containsExactly(End.SUCCEEDED);
  }

  @Test
  void theFirstListingCountsInTheOrderOfTheEnds() {
    RunTimeRecorder recorder = recorder();
    recorder.changed(null, finished("b", 50));
    recorder.changed(null, finished("a", 40));
    assertThat(recorder.groups()).isZero();
    recorder.synced();

    assertThat(recorder.saved().groups().getLast().group().level()).isEqualTo(Level.CLUSTER_QUEUE);
    assertThat(recorder.saved().groups().getLast().runs())
        .extracting(run -> run.endedAt())
        .containsExactly(at(40), at(50));
  }

  @Test
  void aRestartCountsNothingTwiceAndMissesNothing() {
    RunTimeRecorder before = recorder();
    before.synced();
    runs(before, "a", 40);
    runs(before, "b", 50);
    SavedRunTimes saved = before.saved();

    RunTimeRecorder after = recorder();
    after.restore(saved);
    after.changed(null, finished("a", 40));
    after.changed(null, finished("b", 50));
    after.changed(null, finished("late", 50));
    after.changed(null, finished("c", 60));
    after.synced();
    // a listing after a lost watch tells of the same Workload again
    after.changed(null, finished("c", 60));

    assertThat(after.learned(named("d").build()).orElseThrow().count()).isEqualTo(4);
    assertThat(after.changes()).isEqualTo(2);
  }

  @Test
  void timesThatCannotBeAreLeftOut() {
    RunTimeRecorder recorder = recorder();
    recorder.synced();
    runs(recorder, "tomorrow", 2_500);
    runs(recorder, "long-ago", -60 * 24 * 40);
    assertThat(recorder.groups()).isZero();
    assertThat(told).isEmpty();
  }

  @Test
  void whatIsDeletedLeavesNothing() {
    RunTimeRecorder recorder = recorder();
    recorder.synced();
    recorder.changed(named("a").admitted(0).build(), null);
    assertThat(recorder.changes()).isZero();
  }
}
