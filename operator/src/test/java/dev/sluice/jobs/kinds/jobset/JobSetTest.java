package dev.sluice.jobs.kinds.jobset;

import static dev.sluice.jobs.GivenObject.infos;
import static dev.sluice.jobs.GivenObject.podSets;
import static dev.sluice.jobs.GivenObject.started;
import static dev.sluice.jobs.GivenObject.status;
import static dev.sluice.jobs.GivenObject.stopped;
import static dev.sluice.jobs.GivenObject.with;
import static dev.sluice.jobs.GivenObject.yaml;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.WebhookRules;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A JobSet as the integration sees it. */
class JobSetTest {

  private static final ObjectNode SET =
      yaml(
          """
          apiVersion: jobset.x-k8s.io/v1alpha2
          kind: JobSet
          metadata: {name: train, namespace: team, uid: u}
          spec:
            suspend: true
            replicatedJobs:
            - name: Driver
              template:
                spec:
                  template:
                    metadata: {labels: {app: driver}}
                    spec:
                      priorityClassName: high
                      containers: [{name: c, image: i}]
            - name: workers
              replicas: 3
              template:
                spec:
                  parallelism: 4
                  completions: 2
                  template:
                    metadata:
                      annotations: {kueue.x-k8s.io/podset-required-topology: rack}
                    spec:
                      nodeSelector: {disk: fast}
                      tolerations: [{key: gpu, operator: Exists}]
                      containers: [{name: c, image: i}]
          """);
  private static final String RUNNING = "{spec: {suspend: false}}";

  private final JobSet kind = new JobSet();

  private JobState state(String status) {
    return kind.state(status(with(SET, RUNNING), status));
  }

  @Test
  void aPodSetPerReplicatedJob() {
    assertThat(podSets(kind, SET)).containsExactly("driver=1", "workers=6");
    assertThat(kind.podSets(SET).getFirst().template().at("/metadata/labels/app").asText())
        .isEqualTo("driver");
    assertThat(kind.priorityClass(SET)).isEmpty();
  }

  @Test
  void theTopologyIsAskedForPerJob() {
    assertThat(kind.podSets(SET).getFirst().topologyRequest())
        .as("it asks for no topology, which may be implied")
        .contains(
            yaml(
                """
                podIndexLabel: batch.kubernetes.io/job-completion-index
                subGroupIndexLabel: jobset.sigs.k8s.io/job-index
                subGroupCount: 1
                """));
    assertThat(kind.podSets(SET).getLast().topologyRequest())
        .contains(
            yaml(
                """
                required: rack
                podIndexLabel: batch.kubernetes.io/job-completion-index
                subGroupIndexLabel: jobset.sigs.k8s.io/job-index
                subGroupCount: 3
                """));
  }

  @Test
  void countsThatOverflowAreTheLargest() {
    assertThat(
            podSets(
                kind,
                yaml(
                    """
                    spec:
                      replicatedJobs:
                      - {name: a, replicas: 2147483647, template: {spec: {parallelism: 2147483647}}}
                      - {name: b, replicas: -1, template: {spec: {parallelism: 3}}}
                    """)))
        .containsExactly("a=2147483647", "b=0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{spec: 7}",
        "{spec: {replicatedJobs: {a: b}}}",
        "{spec: {replicatedJobs: [7, null, [], {template: x}], suspend: []}, status: []}",
        "{status: {replicatedJobsStatus: 7, conditions: {a: b}}}"
      })
  void anythingCanBeRead(String object) {
    assertThat(kind.state(yaml(object)).end()).isEmpty();
    assertThat(kind.podSets(yaml(object))).allMatch(podSet -> podSet.template().isEmpty());
    assertThat(kind.nextStopStep(yaml(object), Optional.empty())).isPresent();
  }

  @Test
  void itIsActiveWhileJobsAre() {
    assertThat(state("{}").active()).isFalse();
    assertThat(state("{replicatedJobsStatus: [{name: a}, {name: b, active: 1}]}").active())
        .isTrue();
    assertThat(kind.state(SET).suspended()).isTrue();
    assertThat(kind.state(SET).settled()).isTrue();
    assertThat(
            kind.state(status(SET, "{replicatedJobsStatus: [{name: workers, active: 1}]}"))
                .settled())
        .isFalse();
  }

  @Test
  void itIsReadyWhenEveryJobIsReadyOrDone() {
    assertThat(state("{}").podsReady()).isFalse();
    assertThat(
            state("{replicatedJobsStatus: [{name: Driver, ready: 1}, {name: workers, ready: 2}]}")
                .podsReady())
        .isFalse();
    assertThat(
            state(
                    "{replicatedJobsStatus: [{name: Driver, ready: 1},"
                        + " {name: workers, ready: 2, succeeded: 1}]}")
                .podsReady())
        .isTrue();
  }

  @Test
  void podsOfJobsThatSucceededAreReclaimable() {
    assertThat(state("{replicatedJobsStatus: [{name: Driver, succeeded: 0}]}").reclaimable())
        .isEmpty();
    assertThat(
            state(
                    "{replicatedJobsStatus: [{name: Driver, succeeded: 1},"
                        + " {name: workers, succeeded: 2, failed: 1}]}")
                .reclaimable())
        .isEqualTo(Map.of("driver", 1, "workers", 4));
    assertThat(state("{replicatedJobsStatus: [{name: workers, succeeded: 9}]}").reclaimable())
        .isEqualTo(Map.of("workers", 6));
  }

  @Test
  void itEndsWithItsCondition() {
    assertThat(state("{conditions: [{type: Completed, status: 'False'}]}").end()).isEmpty();
    assertThat(state("{conditions: [{type: Completed, status: 'True', message: done}]}").end())
        .contains(new JobState.End(true, "done"));
    assertThat(state("{conditions: [{type: Failed, status: 'True', message: broke}]}").end())
        .contains(new JobState.End(false, "broke"));
  }

  @Test
  void aStartReachesEveryTemplateAndAStopTakesItBack() throws StartConflictException {
    ObjectNode started = started(kind, SET);

    assertThat(started.at("/spec/suspend").asBoolean()).isFalse();
    String driver = "/spec/replicatedJobs/0/template/spec/template";
    String workers = "/spec/replicatedJobs/1/template/spec/template";
    assertThat(started.at(driver + "/spec/nodeSelector")).isEqualTo(yaml("{pool: of-driver}"));
    assertThat(started.at(workers + "/spec/nodeSelector"))
        .isEqualTo(yaml("{disk: fast, pool: of-workers}"));
    assertThat(started.at(workers + "/spec/tolerations")).hasSize(2);
    assertThat(started.at(workers + "/metadata/labels"))
        .isEqualTo(yaml("{kueue.x-k8s.io/podset: workers}"));
    assertThat(started.at(driver + "/spec/schedulingGates")).hasSize(1);
    assertThat(kind.state(started).stopUnfinished()).isFalse();

    ObjectNode stopped = stopped(kind, started, Optional.of(kind.podSets(SET)));
    assertThat(stopped.at("/spec/replicatedJobs/1")).isEqualTo(SET.at("/spec/replicatedJobs/1"));
    assertThat(stopped).isEqualTo(SET);
  }

  @Test
  void aTemplateWithoutMetadataIsRestoredWithoutMetadata() throws StartConflictException {
    ObjectNode plain =
        yaml(
            """
            spec:
              suspend: true
              replicatedJobs:
              - {name: a, template: {spec: {template: {spec: {containers: [{name: c, image: i}]}}}}}
            """);

    assertThat(stopped(kind, started(kind, plain), Optional.of(kind.podSets(plain))))
        .isEqualTo(plain);
  }

  @Test
  void aStartOfATemplateWithOtherValuesFails() {
    ObjectNode other =
        yaml(SET.toString().replace("\"disk\":\"fast\"", "\"pool\":\"of-somebody\""));

    assertThatThrownBy(() -> kind.start(other, infos(kind, other)))
        .isInstanceOf(StartConflictException.class);
    assertThatThrownBy(() -> kind.start(yaml("{spec: {}}"), infos(kind, SET)))
        .isInstanceOf(StartConflictException.class);
  }

  @Test
  void aStartedJobThatSomebodySuspendsIsRestored() throws StartConflictException {
    ObjectNode suspended = with(started(kind, SET), "{spec: {suspend: true}}");

    assertThat(kind.state(suspended).stopUnfinished()).isTrue();
    assertThat(stopped(kind, suspended, Optional.of(kind.podSets(SET)))).isEqualTo(SET);
    ObjectNode unmarked = stopped(kind, suspended, Optional.empty());
    assertThat(kind.state(unmarked).stopUnfinished()).isFalse();
    assertThat(unmarked.at("/spec/replicatedJobs/1/template/spec/template/spec/nodeSelector"))
        .hasSize(2);
  }

  @Test
  void whatTheRestOfTheOperatorHasToKnow() {
    assertThat(kind.kind().framework()).isEqualTo("jobset.x-k8s.io/jobset");
    assertThat(kind.webhooks().review())
        .isEqualTo(
            new WebhookRules.Review.SuspendField(
                List.of("spec", "suspend"),
                List.of("spec", "managedBy"),
                "jobset.sigs.k8s.io/jobset-controller"));
    assertThat(kind.multiKueue().orElseThrow().status().pods())
        .containsExactly("replicatedJobsStatus");
  }
}
