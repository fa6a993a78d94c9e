package dev.sluice.jobs.policy;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.policy.CachedJob.UnjudgedUse;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.PatchWorkload;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Start;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.workload.record.CachedWorkload;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Jobs whose makers nobody judges, where queue gold and class urgent are not for everybody. */
class UnjudgedUseTest {

  private static final String WHY = "not for everybody";

  private final GivenCluster cluster =
      GivenCluster.cluster().workloadPriorityClass("urgent", 100).workloadPriorityClass("calm", 0);
  private UnjudgedUse use =
      (job, queue, priorityClass) ->
          queue.equals("gold") || priorityClass.equals("urgent")
              ? Optional.of(WHY)
              : Optional.empty();
  private Optional<CachedWorkload> prebuilt = Optional.empty();

  private static GivenJob gold() {
    return job().queue("gold");
  }

  private static GivenJob urgent() {
    return job().label(KueueConstants.PRIORITY_CLASS, "urgent");
  }

  private List<JobAction> decide(GivenJob job, GivenWorkload... owned) {
    return new JobPolicy(
            new BatchJob(),
            JobOptions.defaults("kueue-system").with(JobOptions.ClusterState.NONE.with(use)),
            RemoteExecutionCheck.whereMarked(() -> false, sent -> false))
        .decide(
            new ReconcileContext(
                job.view(),
                new ManagementStatus.Own(),
                List.of(owned).stream().map(GivenWorkload::get).toList(),
                prebuilt,
                cluster,
                cluster,
                GivenCluster.NOW));
  }

  private static void assertRefused(List<JobAction> actions) {
    assertThat(actions).hasSize(2).startsWith(new Warn("QuotaNotAvailable", WHY));
    assertThat(actions.getLast()).isInstanceOf(Requeue.class);
  }

  private static void assertOnly(Class<? extends JobAction> action, List<JobAction> actions) {
    assertThat(actions).singleElement().isInstanceOf(action);
  }

  @Test
  void theyGetNoWorkloadInWhatIsNotForEverybody() {
    assertRefused(decide(gold()));
    assertRefused(decide(urgent()));
    assertOnly(CreateWorkload.class, decide(job().label(KueueConstants.PRIORITY_CLASS, "calm")));
  }

  @Test
  void jobsThatSomebodyJudgedGetOne() {
    use = UnjudgedUse.ANY;
    assertOnly(CreateWorkload.class, decide(gold()));
    assertOnly(CreateWorkload.class, decide(urgent()));
  }

  @Test
  void theyDoNotRunThere() {
    assertOnly(Stop.class, decide(gold().running(1)));
    assertThat(decide(gold().status("active", "1"))).isEmpty();
    assertThat(decide(gold().ended("Complete", ""))).isEmpty();
  }

  @Test
  void aWorkloadStaysWhereItIsWhenItsJobNamesSomethingElse() {
    assertOnly(PatchWorkload.class, decide(job().queue("other"), workloadOf(job())));
    assertThat(decide(gold(), workloadOf(job()))).isEmpty();
    assertThat(decide(urgent(), workloadOf(job()))).isEmpty();
  }

  @Test
  void anAdmittedOneStartsWithWhatItHas() {
    assertOnly(Start.class, decide(gold(), workloadOf(job()).admitted("spot")));
    assertThat(decide(gold().running(3), workloadOf(job()).admitted("plain")))
        .noneMatch(action -> action instanceof Stop);
  }

  @Test
  void whatUsedItBeforeStays() {
    assertOnly(Start.class, decide(gold(), workloadOf(gold()).admitted("spot")));
    GivenWorkload waiting = workloadOf(urgent()).workloadPriorityClass("urgent").priority(100);
    assertThat(decide(urgent(), waiting)).isEmpty();
  }

  @Test
  void theyDoNotTakeAWorkloadThatUsesIt() {
    GivenJob names = job().label(KueueConstants.PREBUILT_WORKLOAD_NAME, "made");
    prebuilt = Optional.of(workloadOf(job()).named("made").unowned().get());
    assertOnly(PatchWorkload.class, decide(names));
    prebuilt = Optional.of(workloadOf(gold()).named("made").unowned().get());
    assertRefused(decide(names));
    prebuilt =
        Optional.of(
            workloadOf(job()).named("made").unowned().workloadPriorityClass("urgent").get());
    assertRefused(decide(names));
  }
}
