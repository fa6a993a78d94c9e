package dev.sluice.jobs.kinds.kubeflow;

import static dev.sluice.jobs.GivenObject.infos;
import static dev.sluice.jobs.GivenObject.podSets;
import static dev.sluice.jobs.GivenObject.started;
import static dev.sluice.jobs.GivenObject.status;
import static dev.sluice.jobs.GivenObject.stopped;
import static dev.sluice.jobs.GivenObject.with;
import static dev.sluice.jobs.GivenObject.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobState;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** MPIJobs of the first version as their integration sees them. */
class LegacyMpiJobTest {

  private static final LegacyMpiJob KIND = new LegacyMpiJob();
  private static final String ANNOTATION = "/metadata/annotations/scheduling.x-k8s.io~1suspend";
  private static final ObjectNode JOB =
      yaml(
          """
          metadata: {name: m, annotations: {scheduling.x-k8s.io/suspend: "true"}}
          spec:
            replicas: 3
            template:
              spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]}
          """);

  @Test
  void anotherKindThanThatOfTheLaterVersion() {
    assertThat(KIND.kind().apiVersion()).isEqualTo("kubeflow.org/v1alpha1");
    assertThat(KIND.kind().framework()).isNotEqualTo(new MpiJob().kind().framework());
    assertThat(KIND.kind().definition()).isEqualTo(new MpiJob().kind().definition());
    assertThat(KIND.multiKueue()).isEmpty();
  }

  @Test
  void theLauncherRequestsNothing() {
    assertThat(podSets(KIND, JOB)).containsExactly("launcher=1", "worker=3");
    assertThat(KIND.podSets(JOB).getFirst().template().at("/spec/containers/0"))
        .isEqualTo(yaml("{name: c, image: i}"));
    assertThat(KIND.podSets(JOB).getLast().template()).isEqualTo(JOB.at("/spec/template"));
  }

  @Test
  void theAnnotationAloneHoldsIt() throws Exception {
    assertThat(KIND.state(JOB).suspended()).isTrue();
    assertThat(KIND.neverStarted(JOB)).isTrue();

    ObjectNode started = started(KIND, JOB);
    assertThat(started.at(ANNOTATION).isMissingNode()).isTrue();
    assertThat(KIND.state(started).suspended()).isFalse();
    assertThat(started.at("/spec/template/spec/nodeSelector/pool").asText()).isEqualTo("of-worker");
    assertThat(infos(KIND, started)).hasSize(2);

    ObjectNode stopped = stopped(KIND, started, Optional.of(KIND.podSets(JOB)));
    assertThat(stopped).isEqualTo(JOB);
    assertThat(stopped.at(ANNOTATION).isTextual()).isTrue();
  }

  @Test
  void itsLauncherTellsItsState() {
    ObjectNode begins = status(JOB, "{workerReplicas: 3}");
    assertThat(KIND.state(begins).active()).isTrue();
    assertThat(KIND.state(begins).podsReady()).isFalse();
    assertThat(KIND.neverStarted(begins)).isFalse();
    ObjectNode runs = status(JOB, "{launcherStatus: Active, workerReplicas: 3}");
    assertThat(KIND.state(runs).active()).isTrue();
    assertThat(KIND.state(runs).podsReady()).isTrue();
    assertThat(KIND.neverStarted(runs)).isFalse();
    ObjectNode done = status(JOB, "{launcherStatus: Succeeded, workerReplicas: 3}");
    assertThat(KIND.state(done).active()).isFalse();
    assertThat(KIND.state(done).end()).map(JobState.End::succeeded).contains(true);
    assertThat(KIND.state(status(JOB, "{launcherStatus: Failed}")).end())
        .map(JobState.End::succeeded)
        .contains(false);
  }

  @Test
  void withoutANumberOfWorkersItWaits() {
    assertThat(KIND.state(JOB).handling().hold()).isEmpty();
    ObjectNode counted = with(JOB, "{spec: {replicas: null, gpus: 16}}");
    assertThat(KIND.state(counted).handling().hold()).isPresent();
    assertThat(podSets(KIND, counted)).containsExactly("launcher=1", "worker=0");
  }
}
