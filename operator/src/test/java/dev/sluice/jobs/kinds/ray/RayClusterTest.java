package dev.sluice.jobs.kinds.ray;

import static dev.sluice.jobs.GivenObject.infos;
import static dev.sluice.jobs.GivenObject.podSets;
import static dev.sluice.jobs.GivenObject.started;
import static dev.sluice.jobs.GivenObject.status;
import static dev.sluice.jobs.GivenObject.stopped;
import static dev.sluice.jobs.GivenObject.with;
import static dev.sluice.jobs.GivenObject.yaml;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.WebhookRules;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A RayCluster as the integration sees it. */
class RayClusterTest {

  private static final ObjectNode CLUSTER =
      yaml(
          """
          apiVersion: ray.io/v1
          kind: RayCluster
          metadata: {name: ray, namespace: team, uid: u}
          spec:
            suspend: true
            headGroupSpec:
              template:
                metadata: {labels: {app: head}}
                spec:
                  containers:
                  - {name: ray, image: i, resources: {requests: {cpu: 100m, memory: 1Gi}}}
                  - {name: log, image: j}
            workerGroupSpecs:
            - groupName: Small
              template: {spec: {containers: [{name: ray, image: i}]}}
            - groupName: large
              replicas: 3
              numOfHosts: 4
              template:
                metadata:
                  annotations: {kueue.x-k8s.io/podset-preferred-topology: rack}
                spec:
                  nodeSelector: {disk: fast}
                  tolerations: [{key: gpu, operator: Exists}]
                  containers: [{name: ray, image: i}]
          """);

  private final RayCluster kind = new RayCluster();

  private JobState state(String status) {
    return kind.state(status(with(CLUSTER, "{spec: {suspend: false}}"), status));
  }

  private JsonNode head(String change) {
    return kind.podSets(with(CLUSTER, change)).getFirst().template();
  }

  @Test
  void aPodSetForTheHeadAndOnePerGroup() {
    assertThat(podSets(kind, CLUSTER)).containsExactly("head=1", "small=1", "large=12");
    assertThat(head("{}")).isEqualTo(CLUSTER.at("/spec/headGroupSpec/template"));
    assertThat(kind.podSets(CLUSTER).getLast().topologyRequest())
        .contains(yaml("{preferred: rack}"));
  }

  @Test
  void aGroupHasAtLeastItsMinimum() {
    String sizes =
        """
        spec:
          workerGroupSpecs:
          - {groupName: a, replicas: 1, minReplicas: 100}
          - {groupName: b, minReplicas: 3, numOfHosts: 2}
          - {groupName: c, replicas: 5, minReplicas: 2}
        """;
    assertThat(podSets(kind, with(CLUSTER, sizes)))
        .containsExactly("head=1", "a=100", "b=6", "c=5");
  }

  /** Changes of 0.20, section 1. */
  @Test
  void aHeadWithoutContainersIsRefused() {
    assertThat(kind.validate(CLUSTER, false)).isEmpty();
    for (String containers : List.of("null", "[]")) {
      ObjectNode headless =
          with(
              CLUSTER,
              "{spec: {headGroupSpec: {template: {spec: {containers: " + containers + "}}}}}");
      assertThat(kind.validate(headless, false))
          .extracting(InvalidField::path)
          .containsExactly("spec.headGroupSpec.template.spec.containers");
    }
  }

  @Test
  void countsThatMakeNoSenseAreHeldInTheirRange() {
    assertThat(
            podSets(
                kind,
                yaml(
                    """
                    spec:
                      workerGroupSpecs:
                      - {groupName: a, replicas: 2147483647, numOfHosts: 2147483647}
                      - {groupName: b, replicas: -1, numOfHosts: 3}
                      - {groupName: c, replicas: 2, numOfHosts: 0}
                    """)))
        .containsExactly("head=1", "a=2147483647", "b=0", "c=2");
  }

  @Test
  void theContainerThatScalesTheClusterCounts() {
    JsonNode byDefault = head("{spec: {enableInTreeAutoscaling: true}}");

    assertThat(byDefault.at("/spec/containers")).hasSize(3);
    assertThat(byDefault.at("/spec/containers/2"))
        .isEqualTo(
            yaml(
                """
                name: autoscaler
                resources:
                  requests: {cpu: 500m, memory: 512Mi}
                  limits: {cpu: 500m, memory: 512Mi}
                """));
    assertThat(
            head("{spec: {enableInTreeAutoscaling: true,"
                    + " autoscalerOptions: {resources: {requests: {cpu: '2'}}}}}")
                .at("/spec/containers/2/resources"))
        .isEqualTo(yaml("{requests: {cpu: '2'}}"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{requests: {cpu: 100m, memory: 1Gi}} | {requests: {cpu: 200m, memory: 1Gi}}",
        "{requests: {cpu: '1', memory: 1Mi}}  | {requests: {cpu: '1', memory: 256Mi}}",
        "{}                                   | {requests: {cpu: 200m, memory: 256Mi}}",
        "{limits: {cpu: '1', memory: 1Gi}}    | {limits: {cpu: '1', memory: 1Gi}}",
        "{limits: {cpu: 100m, memory: 1Gi}}   |"
            + " {limits: {cpu: 200m, memory: 1Gi}, requests: {cpu: 200m}}",
        "{requests: {cpu: much, memory: 1Gi}} | {requests: {cpu: 200m, memory: 1Gi}}"
      })
  void theHeadsQuotaSufficesForTheJobThatClearsRedis(String resources, String accounted) {
    ObjectNode cluster = CLUSTER.deepCopy();
    ((ObjectNode) cluster.at("/spec/headGroupSpec/template/spec/containers/0"))
        .set("resources", yaml(resources));
    for (String faultTolerance :
        List.of(
            "{spec: {gcsFaultToleranceOptions: {redisAddress: r}}}",
            "{metadata: {annotations: {ray.io/ft-enabled: 'true'}}}")) {
      assertThat(
              kind.podSets(with(cluster, faultTolerance))
                  .getFirst()
                  .template()
                  .at("/spec/containers/0/resources"))
          .isEqualTo(yaml(accounted));
    }
    assertThat(kind.podSets(cluster).getFirst().template().at("/spec/containers/0/resources"))
        .isEqualTo(yaml(resources));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{spec: 7}",
        "{spec: {headGroupSpec: [], workerGroupSpecs: {a: b}, suspend: []}, status: []}",
        "{spec: {workerGroupSpecs: [7, null, [], {template: x, replicas: many}]}}",
        "{spec: {enableInTreeAutoscaling: [], gcsFaultToleranceOptions: 3}}"
      })
  void anythingCanBeRead(String object) {
    assertThat(kind.state(yaml(object)).end()).isEmpty();
    assertThat(kind.podSets(yaml(object))).allMatch(podSet -> podSet.template().isEmpty());
    assertThat(kind.nextStopStep(yaml(object), Optional.empty())).isPresent();
    assertThat(kind.validate(yaml(object), false))
        .extracting(InvalidField::rule)
        .containsExactly("the head of a cluster in a queue must have a container");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{template: {}}",
        "{template: {spec: 7}}",
        "{template: {spec: {containers: {a: b}}}}",
        "{template: {spec: {containers: [3]}}}",
        "{template: {spec: {containers: [{resources: [], name: 3}]}}}",
        "{template: {spec: {containers: [{resources: {requests: 7, limits: []}}]}}}"
      })
  void whateverTheHeadIsWhatIsAddedCounts(String head) {
    ObjectNode cluster = yaml("{spec: {enableInTreeAutoscaling: true}}");
    cluster.withObject("/spec/gcsFaultToleranceOptions");
    cluster.withObject("/spec").set("headGroupSpec", yaml(head));

    assertThat(kind.podSets(cluster).getFirst().template().at("/spec/containers"))
        .last()
        .satisfies(it -> assertThat(it.path("name").asText()).isEqualTo("autoscaler"));
  }

  @Test
  void itIsReadyWhenItSaysSoAndActiveWhileItHasPods() {
    assertThat(state("{}").active()).isFalse();
    assertThat(state("{state: ready}").active()).isTrue();
    assertThat(state("{state: ready}").podsReady()).isTrue();
    assertThat(state("{state: failed}").podsReady()).isFalse();
    assertThat(state("{state: suspended}").active()).isFalse();
    assertThat(state("{availableWorkerReplicas: 1}").active()).isTrue();
    assertThat(state("{readyWorkerReplicas: 1}").active()).isTrue();
    assertThat(kind.state(status(CLUSTER, "{availableWorkerReplicas: 1}")).settled()).isFalse();
    assertThat(kind.state(CLUSTER).settled()).isTrue();
  }

  @Test
  void itNeverFinishesAndNothingIsReclaimable() {
    JobState failed =
        state("{state: failed, conditions: [{type: Failed, status: 'True'}], reason: r}");

    assertThat(failed.end()).isEmpty();
    assertThat(failed.reclaimable()).isEmpty();
    assertThat(failed.handling()).isEqualTo(JobState.Handling.ORDINARY);
  }

  @Test
  void aStartReachesEveryTemplateAndAStopTakesItBack() throws StartConflictException {
    ObjectNode cluster = with(CLUSTER, "{spec: {gcsFaultToleranceOptions: {redisAddress: r}}}");
    ObjectNode started = started(kind, cluster);

    assertThat(started.at("/spec/suspend").asBoolean()).isFalse();
    assertThat(started.at("/spec/headGroupSpec/template/spec/nodeSelector"))
        .isEqualTo(yaml("{pool: of-head}"));
    assertThat(started.at("/spec/headGroupSpec/template/spec/containers"))
        .as("what only counts is not written")
        .isEqualTo(CLUSTER.at("/spec/headGroupSpec/template/spec/containers"));
    assertThat(started.at("/spec/workerGroupSpecs/0/template/metadata/labels"))
        .isEqualTo(yaml("{kueue.x-k8s.io/podset: small}"));
    assertThat(started.at("/spec/workerGroupSpecs/1/template/spec/nodeSelector"))
        .isEqualTo(yaml("{disk: fast, pool: of-large}"));
    assertThat(started.at("/spec/workerGroupSpecs/1/template/spec/tolerations")).hasSize(2);

    ObjectNode stopped = stopped(kind, started, Optional.of(kind.podSets(cluster)));
    assertThat(stopped).isEqualTo(cluster);
  }

  @Test
  void aStartOfATemplateWithOtherValuesFails() {
    ObjectNode other = yaml(CLUSTER.toString().replace("\"disk\":\"fast\"", "\"pool\":\"x\""));

    assertThatThrownBy(() -> kind.start(other, infos(kind, other)))
        .isInstanceOf(StartConflictException.class)
        .hasMessageContaining("pod set large");
    assertThatThrownBy(() -> kind.start(yaml("{spec: {}}"), infos(kind, CLUSTER)))
        .isInstanceOf(StartConflictException.class)
        .hasMessage("the job has no template of pod set head");
  }

  @Test
  void whatTheRestOfTheOperatorHasToKnow() {
    assertThat(kind.kind().framework()).isEqualTo("ray.io/raycluster");
    assertThat(kind.webhooks().review())
        .isEqualTo(
            new WebhookRules.Review.SuspendField(
                List.of("spec", "suspend"),
                List.of("spec", "managedBy"),
                "ray.io/kuberay-operator"));
    assertThat(kind.multiKueue().orElseThrow().status().pods()).contains("state");
    assertThat(kind.priorityClass(CLUSTER)).isEmpty();
  }
}
