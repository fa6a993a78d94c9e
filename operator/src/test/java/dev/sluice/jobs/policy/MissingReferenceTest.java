package dev.sluice.jobs.policy;

import static dev.sluice.jobs.GivenObject.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.kinds.trainer.TrainJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.FinishWorkload;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Start;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Jobs that refer to an object which may be missing. */
class MissingReferenceTest {

  private static final ObjectNode RUNTIME =
      yaml(
          """
          template:
            spec:
              replicatedJobs:
              - {name: node, template: {spec: {template: {spec: {containers: [{name: c}]}}}}}
          """);
  private static final Warn WARNING =
      new Warn("ErrWorkloadCompose", "ClusterTrainingRuntime \"torch\" does not exist");

  private final GivenCluster cluster = GivenCluster.cluster();

  private static ObjectNode job(boolean suspended, String status) {
    return yaml(
        """
        metadata: {name: train, namespace: team, uid: u, resourceVersion: "1", labels: {kueue.x-k8s.io/queue-name: q}}
        spec: {suspend: %s, runtimeRef: {name: torch}}
        status: %s
        """
            .formatted(suspended, status));
  }

  private static ObjectNode withRuntime(ObjectNode job) {
    ObjectNode copy = job.deepCopy();
    JobReference.setSpec(copy, RUNTIME);
    return copy;
  }

  private List<JobAction> decide(ObjectNode job, List<CachedWorkload> owned) {
    return new JobPolicy(
            new TrainJob(),
            JobOptions.defaults("kueue-system"),
            RemoteExecutionCheck.whereMarked(() -> false, sent -> false))
        .decide(
            new ReconcileContext(
                CachedJobParser.of(new TrainJob(), job),
                new ManagementStatus.Own(),
                owned,
                Optional.empty(),
                cluster,
                cluster,
                GivenCluster.NOW));
  }

  private CachedWorkload workload(boolean admitted) throws IOException {
    CreateWorkload create =
        (CreateWorkload) decide(withRuntime(job(true, "{}")), List.of()).getFirst();
    ObjectNode workload = create.workload().deepCopy();
    workload.withObjectProperty("metadata").put("uid", "w").put("resourceVersion", "2");
    if (admitted) {
      workload.set(
          "status",
          yaml(
              """
              conditions: [{type: QuotaReserved, status: 'True'}, {type: Admitted, status: 'True'}]
              admission: {clusterQueue: cq, podSetAssignments: [{name: node, count: 1, flavors: {cpu: plain}}]}
              """));
    }
    return new WorkloadParser().parse(workload.toString().getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void withoutItNoWorkloadIsCreatedAndPeopleAreTold() {
    List<JobAction> actions = decide(job(true, "{}"), List.of());

    assertThat(actions).hasSize(2).startsWith(WARNING);
    assertThat(actions.getLast()).isInstanceOf(Requeue.class);
  }

  @Test
  void aWorkloadThatWaitsIsKept() throws IOException {
    assertThat(decide(job(true, "{}"), List.of(workload(false)))).isEmpty();
    assertThat(decide(withRuntime(job(true, "{}")), List.of(workload(false)))).isEmpty();
  }

  @Test
  void anAdmittedJobIsStartedOnlyWithIt() throws IOException {
    assertThat(decide(job(true, "{}"), List.of(workload(true)))).startsWith(WARNING);
    assertThat(decide(withRuntime(job(true, "{}")), List.of(workload(true))))
        .singleElement()
        .isInstanceOf(Start.class);
  }

  @Test
  void aRunningJobGoesOnAndEndsWithoutIt() throws IOException {
    assertThat(decide(job(false, "{}"), List.of(workload(true)))).isEmpty();
    assertThat(
            decide(
                job(false, "{conditions: [{type: Complete, status: 'True', message: done}]}"),
                List.of(workload(true))))
        .singleElement()
        .isInstanceOf(FinishWorkload.class);
  }
}
