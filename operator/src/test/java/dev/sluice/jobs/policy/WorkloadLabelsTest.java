package dev.sluice.jobs.policy;

import static dev.sluice.jobs.GivenJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.json.JsonFields;
import dev.sluice.api.queueing.StartRules;
import dev.sluice.jobs.policy.JobOptions.ClusterState;
import dev.sluice.jobs.policy.WorkloadFactory.PrioritySource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The labels that a Workload takes from its job. */
class WorkloadLabelsTest {

  /** docs/workload-semantics.md#creation-of-workloads (changes of 0.20, section 4). */
  @Test
  void theUidOfTheJobIsThatOfWhatMadeIt() {
    JobOptions options = JobOptions.defaults("kueue-system");
    PrioritySource.Found priority = new PrioritySource.Found(0, Optional.empty());
    assertThat(
            JsonFields.labels(
                new WorkloadFactory(options).compose(job().view(), List.of(), priority)))
        .containsEntry("kueue.x-k8s.io/job-uid", job().view().ref().uid());
    assertThat(
            JsonFields.labels(
                new WorkloadFactory(options.with(ClusterState.NONE.with(any -> "deployment")))
                    .compose(job().view(), List.of(), priority)))
        .containsEntry("kueue.x-k8s.io/job-uid", "deployment");
  }

  @Test
  void thoseThatQueuesSelectWorkloadsBy() {
    WorkloadFactory factory =
        new WorkloadFactory(
            JobOptions.defaults("kueue-system")
                .with(
                    new ClusterState(
                        workload -> StartRules.NONE,
                        () -> Set.of("tier", "absent"),
                        job -> 0,
                        false,
                        (namespace, queue) -> Optional.empty())));

    assertThat(
            JsonFields.labels(
                factory.compose(
                    job().label("tier", "gold").label("other", "x").view(),
                    List.of(),
                    new PrioritySource.Found(0, Optional.empty()))))
        .containsEntry("tier", "gold")
        .doesNotContainKeys("other", "absent");
  }
}
