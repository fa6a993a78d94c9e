package dev.sluice.forecast.feed;

import static dev.sluice.forecast.feed.RunWorkload.at;
import static dev.sluice.forecast.feed.RunWorkload.named;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.forecast.feed.RunTimeRecorder.WorkloadRuns;
import dev.sluice.forecast.runtimes.FinishedRun;
import dev.sluice.forecast.runtimes.FinishedRun.End;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkloadRunsTest {

  private static FinishedRun run(int endedAt, int minutes, End end) {
    return new FinishedRun(at(endedAt), Duration.ofMinutes(minutes), end);
  }

  @ParameterizedTest
  @CsvSource({
    "Succeeded, SUCCEEDED",
    "Failed, FAILED",
    "OwnerNotFound, EVICTED",
    "WorkloadSliceReplaced, EVICTED"
  })
  void itLastsFromReadyPodsToTheEnd(String reason, End end) {
    CachedWorkload running = named("a").admitted(0).ready(2).build();
    CachedWorkload finished = named("a").admitted(0).ready(2).finished(reason, 32).build();

    assertThat(WorkloadRuns.ended(running, finished)).contains(run(32, 30, end));
    assertThat(WorkloadRuns.ended(finished, finished)).isEmpty();
  }

  @Test
  void itLastsFromTheAdmissionWhereReadinessIsNotTold() {
    assertThat(WorkloadRuns.ended(null, named("a").admitted(0).finished("Failed", 32).build()))
        .contains(run(32, 32, End.FAILED));
  }

  @Test
  void readinessThatIsToldWithTheEndOrASecondTimeSaysNothing() {
    assertThat(
            WorkloadRuns.ended(
                null, named("a").admitted(0).ready(9).finished("Succeeded", 9).build()))
        .contains(run(9, 9, End.SUCCEEDED));
    assertThat(
            WorkloadRuns.ended(
                null,
                named("a")
                    .admitted(0)
                    .condition("PodsReady", "True", "Recovered", 20)
                    .finished("Succeeded", 32)
                    .build()))
        .contains(run(32, 32, End.SUCCEEDED));
  }

  @Test
  void anEvictionEndsItUntilTheNextAdmission() {
    RunWorkload workload = named("a").admitted(0).ready(2);
    CachedWorkload running = workload.build();
    CachedWorkload stopping = workload.condition("Evicted", "True", "Preempted", 7).build();
    CachedWorkload stopped = workload.condition("Admitted", "False", "Evicted", 8).build();
    CachedWorkload waiting = workload.condition("Evicted", "False", "QuotaReserved", 9).build();

    assertThat(WorkloadRuns.ended(running, stopping)).contains(run(7, 5, End.EVICTED));
    assertThat(WorkloadRuns.ended(running, waiting)).contains(run(8, 6, End.EVICTED));
    assertThat(WorkloadRuns.ended(stopping, stopped)).isEmpty();
    assertThat(WorkloadRuns.ended(stopped, waiting)).isEmpty();
    assertThat(WorkloadRuns.ended(null, stopping)).isEmpty();
    CachedWorkload ended = workload.finished("Succeeded", 10).build();
    assertThat(WorkloadRuns.ended(stopping, ended)).isEmpty();
  }

  @Test
  void podsThatWereNeverReadyDidNotRun() {
    RunWorkload workload =
        named("a").admitted(0).condition("PodsReady", "False", "WaitForStart", 0);
    CachedWorkload starting = workload.build();

    assertThat(
            WorkloadRuns.ended(
                starting, workload.condition("Evicted", "True", "PodsReadyTimeout", 5).build()))
        .isEmpty();
  }

  @Test
  void whatWasNeverAdmittedDidNotRun() {
    assertThat(WorkloadRuns.ended(null, named("a").finished("Failed", 3).build())).isEmpty();
    assertThat(WorkloadRuns.ended(named("a").build(), named("a").admitted(3).build())).isEmpty();
  }
}
