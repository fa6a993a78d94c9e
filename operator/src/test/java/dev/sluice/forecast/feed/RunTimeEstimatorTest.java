package dev.sluice.forecast.feed;

import static dev.sluice.forecast.feed.RunWorkload.at;
import static dev.sluice.forecast.feed.RunWorkload.named;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.forecast.feed.RunTimeEstimator.WorkloadRunTime;
import dev.sluice.forecast.runtimes.RunTimeDistribution;
import dev.sluice.forecast.runtimes.RunTimeEstimate.Basis;
import dev.sluice.forecast.runtimes.RunTimeGroup.Level;
import dev.sluice.forecast.runtimes.RunTimeHistory.Learned;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RunTimeEstimatorTest {

  private static final RunTimeDistribution HOUR = RunTimeDistribution.exactly(Duration.ofHours(1));

  private static WorkloadRunTime estimate(
      RunWorkload workload, boolean learned, Optional<QueueRunTime> ofQueue) {
    return estimator(learned, ofQueue).of(workload.build());
  }

  private static RunTimeEstimator estimator(boolean learned, Optional<QueueRunTime> ofQueue) {
    return new RunTimeEstimator(
        any -> learned ? Optional.of(new Learned(Level.NAME, 7, HOUR, HOUR, 0)) : Optional.empty(),
        any -> ofQueue,
        InstantSource.fixed(at(100)));
  }

  /** Time axis, section 8: the expected run time, else the limit. */
  @Test
  void statedIsWhatIsDeclaredUpToWhatIsLeftOfTheLimit() {
    Optional<QueueRunTime> ofQueue =
        Optional.of(new QueueRunTime(Duration.ofHours(2), "LocalQueue team/gpu"));
    RunWorkload workload = named("a");
    assertThat(estimator(true, Optional.empty()).stated(workload.build())).isEmpty();
    assertThat(estimator(true, ofQueue).stated(workload.build())).contains(Duration.ofHours(2));
    workload.annotated(RunTimeAnnotations.EXPECTED, "90m");
    assertThat(estimator(true, ofQueue).stated(workload.build())).contains(Duration.ofMinutes(90));
    workload.spec("maximumExecutionTimeSeconds", 4_800).ran(600);
    assertThat(estimator(true, ofQueue).stated(workload.build())).contains(Duration.ofMinutes(70));
    workload.annotated(RunTimeAnnotations.DEADLINE, "1800s");
    assertThat(estimator(true, ofQueue).stated(workload.build())).contains(Duration.ofMinutes(30));
    assertThat(
            estimator(false, Optional.empty())
                .stated(named("b").annotated(RunTimeAnnotations.DEADLINE, "1800s").build()))
        .contains(Duration.ofMinutes(30));
  }

  @Test
  void whatTheOwnerDeclaresComesFirst() {
    WorkloadRunTime found =
        estimate(
            named("a").annotated(RunTimeAnnotations.EXPECTED, "90m"),
            true,
            Optional.of(new QueueRunTime(Duration.ofHours(2), "LocalQueue team/gpu")));
    assertThat(found.estimate().basis()).isEqualTo(Basis.DECLARED);
    assertThat(found.estimate().distribution().orElseThrow().quantile(0.5))
        .isEqualTo(Duration.ofMinutes(90));
    assertThat(found.queueWithDefault()).isEmpty();
    assertThat(found.age()).isEmpty();
  }

  @Test
  void thenWhatTheQueueDeclares() {
    WorkloadRunTime found =
        estimate(
            named("a").annotated(RunTimeAnnotations.EXPECTED, "soon"),
            true,
            Optional.of(new QueueRunTime(Duration.ofHours(2), "LocalQueue team/gpu")));
    assertThat(found.estimate().basis()).isEqualTo(Basis.DECLARED);
    assertThat(found.queueWithDefault()).contains("LocalQueue team/gpu");
  }

  @Test
  void thenWhatWasLearnedUpToTheLimit() {
    WorkloadRunTime found =
        estimate(
            named("a").spec("maximumExecutionTimeSeconds", 3_000).ran(600), true, Optional.empty());
    assertThat(found.estimate().basis()).isEqualTo(Basis.LEARNED);
    assertThat(found.estimate().limit()).contains(Duration.ofMinutes(40));
    assertThat(found.estimate().distribution().orElseThrow().quantile(0.5))
        .isEqualTo(Duration.ofMinutes(40));
  }

  @Test
  void thenTheLimitAndNothing() {
    assertThat(
            estimate(named("a").spec("maximumExecutionTimeSeconds", 3_000), false, Optional.empty())
                .estimate()
                .basis())
        .isEqualTo(Basis.LIMIT);
    assertThat(estimate(named("a"), false, Optional.empty()).estimate().basis())
        .isEqualTo(Basis.UNKNOWN);
  }

  @Test
  void theSmallerLimitCounts() {
    RunWorkload deadline = named("a").annotated(RunTimeAnnotations.DEADLINE, "1800s");
    assertThat(estimate(deadline, false, Optional.empty()).estimate().limit())
        .contains(Duration.ofMinutes(30));
    assertThat(
            estimate(
                    named("a")
                        .annotated(RunTimeAnnotations.DEADLINE, "1800s")
                        .spec("maximumExecutionTimeSeconds", 600),
                    false,
                    Optional.empty())
                .estimate()
                .limit())
        .contains(Duration.ofMinutes(10));
    assertThat(
            estimate(
                    named("a").annotated(RunTimeAnnotations.DEADLINE, "no"),
                    false,
                    Optional.empty())
                .estimate()
                .basis())
        .isEqualTo(Basis.UNKNOWN);
  }

  @Test
  void whatRunsHasAnAge() {
    assertThat(estimate(named("a").admitted(30).ready(40), true, Optional.empty()).age())
        .contains(Duration.ofMinutes(60));
    assertThat(
            estimate(named("a").admitted(30).finished("Failed", 90), true, Optional.empty()).age())
        .isEmpty();
  }
}
