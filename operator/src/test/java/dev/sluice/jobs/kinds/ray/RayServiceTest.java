package dev.sluice.jobs.kinds.ray;

import static dev.sluice.jobs.GivenObject.podSets;
import static dev.sluice.jobs.GivenObject.started;
import static dev.sluice.jobs.GivenObject.status;
import static dev.sluice.jobs.GivenObject.stopped;
import static dev.sluice.jobs.GivenObject.with;
import static dev.sluice.jobs.GivenObject.yaml;
import static org.assertj.core.api.Assertions.assertThat;

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

/** A RayService as the integration sees it. */
class RayServiceTest {

  private static final ObjectNode SERVICE =
      yaml(
          """
          apiVersion: ray.io/v1
          kind: RayService
          metadata: {name: ray, namespace: team, uid: u}
          spec:
            serveConfigV2: "a: b"
            rayClusterConfig:
              suspend: true
              headGroupSpec: {template: {spec: {containers: [{name: ray, image: i}]}}}
              workerGroupSpecs:
              - {groupName: small, replicas: 2, template: {spec: {containers: [{name: r, image: i}]}}}
          """);

  private final RayService kind = new RayService();

  private JobState state(String status) {
    return kind.state(
        status(with(SERVICE, "{spec: {rayClusterConfig: {suspend: false}}}"), status));
  }

  @Test
  void itsPodSetsAreThoseOfItsCluster() {
    assertThat(podSets(kind, SERVICE)).containsExactly("head=1", "small=2");
    assertThat(
            kind.podSets(
                    with(SERVICE, "{spec: {rayClusterConfig: {enableInTreeAutoscaling: true}}}"))
                .getFirst()
                .template()
                .at("/spec/containers"))
        .hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{spec: 7, status: []}",
        "{spec: {rayClusterConfig: [], serveConfigV2: {a: b}}, metadata: {finalizers: x}}",
        "{metadata: {deletionTimestamp: 3, finalizers: [3, {}], annotations: []}}"
      })
  void anythingCanBeRead(String object) {
    assertThat(kind.state(yaml(object)).end()).isEmpty();
    assertThat(kind.podSets(yaml(object))).isNotEmpty();
    assertThat(kind.nextStopStep(yaml(object), Optional.empty())).isPresent();
    assertThat(kind.validate(yaml(object), false))
        .extracting(InvalidField::rule)
        .containsExactly("the head of a cluster in a queue must have a container");
  }

  @Test
  void itIsActiveAndReadyWhileItServesAndNeverFinishes() {
    JobState ready = state("{conditions: [{type: Ready, status: 'True'}], serviceStatus: Running}");
    JobState not = state("{conditions: [{type: Ready, status: 'False'}], serviceStatus: Running}");

    assertThat(ready.active()).isTrue();
    assertThat(ready.podsReady()).isTrue();
    assertThat(ready.end()).isEmpty();
    assertThat(ready.reclaimable()).isEmpty();
    assertThat(not.active()).isFalse();
    assertThat(not.podsReady()).isFalse();
    assertThat(not.suspended()).isFalse();
    assertThat(kind.state(SERVICE).suspended()).isTrue();
  }

  @Test
  void aStartReachesEveryTemplateAndAStopTakesItBack() throws StartConflictException {
    ObjectNode started = started(kind, SERVICE);

    assertThat(started.at("/spec/rayClusterConfig/suspend").asBoolean()).isFalse();
    assertThat(started.at("/spec").has("suspend")).isFalse();
    assertThat(started.at("/spec/rayClusterConfig/workerGroupSpecs/0/template/spec/nodeSelector"))
        .isEqualTo(yaml("{pool: of-small}"));
    assertThat(stopped(kind, started, Optional.of(kind.podSets(SERVICE)))).isEqualTo(SERVICE);
  }

  @ParameterizedTest
  @CsvSource({
    "'ray.io/cleanup',                     r, true",
    "'ray.io/cleanup, foregroundDeletion', r, true",
    "'foregroundDeletion',                 r, false",
    "'',                                   r, false",
    "'ray.io/cleanup',                     '', false"
  })
  void aDeletedServiceKeepsItsQuotaWhileItsRedisIsCleared(
      String finalizers, String redis, boolean cleansUp) {
    ObjectNode living =
        with(
            SERVICE,
            "{metadata: {finalizers: [%s]}%s}"
                .formatted(
                    finalizers,
                    redis.isEmpty()
                        ? ""
                        : ", spec: {rayClusterConfig: {gcsFaultToleranceOptions: {redisAddress: r}}}"));

    assertThat(kind.state(living).handling().cleansUp()).isFalse();
    assertThat(
            kind.state(with(living, "{metadata: {deletionTimestamp: '2026-03-01T11:00:00Z'}}"))
                .handling()
                .cleansUp())
        .isEqualTo(cleansUp);
  }

  @Test
  void whatTheRestOfTheOperatorHasToKnow() {
    assertThat(kind.kind().framework()).isEqualTo("ray.io/rayservice");
    assertThat(kind.webhooks().review())
        .isEqualTo(
            new WebhookRules.Review.SuspendField(
                List.of("spec", "rayClusterConfig", "suspend"),
                List.of("spec", "managedBy"),
                "ray.io/kuberay-operator"));
    assertThat(kind.multiKueue().orElseThrow().pushed())
        .containsExactly(List.of("spec", "serveConfigV2"));
    assertThat(kind.multiKueue().orElseThrow().managedBy())
        .contains(List.of("spec", "rayClusterConfig", "managedBy"));
  }
}
