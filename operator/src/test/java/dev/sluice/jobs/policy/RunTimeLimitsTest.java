package dev.sluice.jobs.policy;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.api.queueing.StartRules;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.policy.JobOptions.ClusterState;
import dev.sluice.jobs.policy.WorkloadFactory.PrioritySource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a job and its Workload say about run times, and what the queue makes of it. */
class RunTimeLimitsTest {

  private static final JobOptions NONE = JobOptions.defaults("kueue-system");
  private static final JobOptions HOUR = within(Duration.ofHours(1));
  private static final PrioritySource.Found PRIORITY =
      new PrioritySource.Found(0, Optional.empty());

  private static JobOptions within(Duration limit) {
    return NONE.with(
        new ClusterState(
            workload -> StartRules.NONE,
            Set::of,
            job -> 0,
            false,
            (namespace, queue) -> queue.isEmpty() ? Optional.empty() : Optional.of(limit)));
  }

  private static GivenJob limited(int seconds) {
    return seconds == 0
        ? job()
        : job().label(KueueConstants.MAX_EXEC_TIME_SECONDS, String.valueOf(seconds));
  }

  /** A job that names a Workload as made for it. */
  private static GivenJob prebuilt(int seconds) {
    return limited(seconds).annotation(KueueConstants.PREBUILT_WORKLOAD_NAME, "w");
  }

  private static ObjectNode composed(GivenJob job, JobOptions options) {
    return new WorkloadFactory(options).compose(job.view(), List.of(), PRIORITY);
  }

  private static long limit(ObjectNode workload) {
    return workload.at("/spec/maximumExecutionTimeSeconds").asLong(0);
  }

  /** A Workload with this limit, which may be one of its queue. */
  private static GivenWorkload workload(int seconds, boolean ofQueue) {
    GivenWorkload workload = workloadOf(limited(seconds));
    return ofQueue ? workload.annotation(RunTimeAnnotations.MAX, seconds + "s") : workload;
  }

  private static boolean matches(GivenJob job, GivenWorkload workload, JobOptions options) {
    return WorkloadEquivalence.matches(job.view(), workload.get(), options);
  }

  @Test
  void theDeadlineOfTheJobIsKept() {
    String deadline = "/metadata/annotations/sluice.dev~1active-deadline";
    assertThat(composed(job().spec("activeDeadlineSeconds", "90"), NONE).at(deadline).asText())
        .isEqualTo("90s");
    assertThat(
            composed(job().spec("runPolicy", "{activeDeadlineSeconds: 60}"), NONE)
                .at(deadline)
                .asText())
        .isEqualTo("60s");
    for (String wrong : List.of("0", "-5", "1.5", "soon", "99999999999999999999", "[]")) {
      assertThat(composed(job().spec("activeDeadlineSeconds", wrong), NONE).at(deadline)).isEmpty();
    }
    assertThat(composed(job().running(1), NONE).at(deadline)).isEmpty();
  }

  @Test
  void theSmallerLimitIsTheWorkloads() {
    assertThat(limit(composed(limited(0), NONE))).isZero();
    assertThat(limit(composed(limited(7_200), NONE))).isEqualTo(7_200);
    assertThat(limit(composed(limited(0), HOUR))).isEqualTo(3_600);
    assertThat(limit(composed(limited(7_200), HOUR))).isEqualTo(3_600);
    assertThat(limit(composed(limited(60), HOUR))).isEqualTo(60);
    assertThat(limit(composed(job().queue(""), HOUR))).isZero();
    assertThat(limit(composed(prebuilt(0), HOUR))).as("whatever the job names").isEqualTo(3_600);
  }

  @Test
  void aWorkloadTellsThatItsLimitIsTheQueues() {
    assertThat(JsonFields.annotations(composed(limited(0), HOUR)))
        .containsEntry(RunTimeAnnotations.MAX, "3600s");
    assertThat(JsonFields.annotations(composed(limited(60), HOUR))).isEmpty();
    ObjectNode patch = new WorkloadFactory(HOUR).rewrite(job().view(), List.of(), PRIORITY);
    assertThat(limit(patch)).isEqualTo(3_600);
    assertThat(JsonFields.annotations(patch)).containsEntry(RunTimeAnnotations.MAX, "3600s");
    assertThat(new WorkloadFactory(NONE).rewrite(job().view(), List.of(), PRIORITY).has("metadata"))
        .isFalse();
  }

  @Test
  void aPendingWorkloadFollowsTheLimitOfItsQueue() {
    assertThat(matches(limited(0), workload(0, false), NONE)).isTrue();
    assertThat(matches(limited(0), workload(3_600, true), HOUR)).isTrue();
    assertThat(matches(limited(7_200), workload(3_600, true), HOUR)).isTrue();
    assertThat(matches(limited(60), workload(60, false), HOUR)).isTrue();
    assertThat(matches(limited(0), workload(0, false), HOUR)).isFalse();
    assertThat(matches(limited(7_200), workload(7_200, false), HOUR)).isFalse();
    assertThat(matches(limited(0), workload(3_600, true), NONE)).isFalse();
  }

  @Test
  void whatHasQuotaKeepsItsLimit() {
    GivenJob running = limited(0).running(3);
    assertThat(matches(running, workload(0, false).admitted("spot"), HOUR)).isTrue();
    assertThat(matches(running, workload(3_600, true).admitted("spot"), NONE)).isTrue();
    assertThat(matches(limited(0), workload(3_600, true).reserved("spot"), NONE)).isTrue();
    assertThat(matches(limited(60), workload(3_600, true).reserved("spot"), NONE))
        .as("more than the job says now")
        .isFalse();
    assertThat(matches(limited(0), workload(3_600, false).reserved("spot"), HOUR)).isTrue();
    assertThat(matches(limited(0), workload(1_800, false).reserved("spot"), HOUR))
        .as("a limit that nobody says")
        .isFalse();
  }

  /** It gets the limit of its queue, and is still the one that the job names. */
  @Test
  void aPrebuiltWorkloadIsTheJobsWithTheLimitOfTheJobOrOfTheQueue() {
    for (JobOptions options : List.of(NONE, HOUR)) {
      assertThat(matches(prebuilt(0), workload(0, false), options)).isTrue();
      assertThat(matches(prebuilt(7_200), workload(7_200, false), options)).isTrue();
      assertThat(matches(prebuilt(0), workload(3_600, true), options)).isTrue();
      assertThat(matches(prebuilt(7_200), workload(3_600, true), options)).isTrue();
      assertThat(matches(prebuilt(60), workload(3_600, true), options)).isFalse();
      assertThat(matches(prebuilt(0), workload(3_600, false), options)).isFalse();
    }
  }

  @Test
  void whatIsExpectedIsCopiedIfItCanBeRead() {
    assertThat(
            JsonFields.annotations(
                composed(job().annotation(RunTimeAnnotations.EXPECTED, "90m"), NONE)))
        .containsEntry(RunTimeAnnotations.EXPECTED, "90m");
    assertThat(
            JsonFields.annotations(
                composed(job().annotation(RunTimeAnnotations.EXPECTED, "soon"), NONE)))
        .isEmpty();
  }
}
