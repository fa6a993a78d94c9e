package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.create;
import static dev.sluice.webhooks.Reviews.edited;
import static dev.sluice.webhooks.Reviews.messages;
import static dev.sluice.webhooks.Reviews.set;
import static dev.sluice.webhooks.Reviews.settings;
import static dev.sluice.webhooks.Reviews.update;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.webhooks.Reviews;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LeaderWorkerSetWebhookTest {

  private static final JsonNode QUEUED =
      yaml(
          """
          apiVersion: leaderworkerset.x-k8s.io/v1
          kind: LeaderWorkerSet
          metadata:
            name: lws
            namespace: team
            uid: u-1
            labels: {kueue.x-k8s.io/queue-name: serving, kueue.x-k8s.io/priority-class: high}
          spec:
            replicas: 2
            leaderWorkerTemplate:
              size: 3
              leaderTemplate: {metadata: {}, spec: {containers: [{name: c, image: i}]}}
              workerTemplate: {metadata: {}, spec: {containers: [{name: c, image: i}]}}
          """);
  private static final JsonNode PLAIN = edited(QUEUED, set("/metadata/labels", "{}"));
  private static final String TEMPLATES = "/spec/leaderWorkerTemplate";

  private final LeaderWorkerSetWebhook webhook =
      new LeaderWorkerSetWebhook(settings("LWSImmutableGroupSize"), Reviews.Cluster.EMPTY);

  private static String added(String template, String map, String key, String value) {
    return "{\"op\":\"add\",\"path\":\"%s/%s/metadata/%s/kueue.x-k8s.io~1%s\",\"value\":\"%s\"}"
        .formatted(TEMPLATES, template, map, key, value);
  }

  @Test
  void thePodsOfBothTemplatesAreToldWhatTheyAre() {
    assertThat(Reviews.patch(webhook.mutate(create(QUEUED))))
        .contains(
            added("leaderTemplate", "labels", "priority-class", "high"),
            added("leaderTemplate", "annotations", "pod-group-serving", "true"),
            added("workerTemplate", "labels", "priority-class", "high"),
            added("workerTemplate", "annotations", "pod-group-serving", "true"),
            added("workerTemplate", "annotations", "pod-index-offset", "1"))
        .doesNotContain(added("leaderTemplate", "annotations", "pod-index-offset", "1"));
    assertThat(Reviews.patch(webhook.mutate(create(QUEUED))).toString())
        .contains("leaderworkerset.x-k8s.io/leaderworkerset", "\"serving\"");
    assertThat(Reviews.patch(webhook.mutate(create(PLAIN)))).isEmpty();
  }

  @Test
  void pointsOfWorkersAreNotMovedWithoutLeaderOrInAGroupOfPodSets() {
    assertThat(
            Reviews.patch(
                    webhook.mutate(
                        create(edited(QUEUED, set(TEMPLATES + "/leaderTemplate", "null")))))
                .toString())
        .doesNotContain("pod-index-offset", "leaderTemplate");
    assertThat(
            Reviews.patch(
                    webhook.mutate(
                        create(
                            edited(
                                QUEUED,
                                set(
                                    TEMPLATES + "/workerTemplate/metadata/annotations",
                                    "{kueue.x-k8s.io/podset-group-name: a}")))))
                .toString())
        .doesNotContain("pod-index-offset");
  }

  /** Among others, changes of 0.20, section 4: LWSImmutableGroupSize. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          /spec/replicas | 3 |
          /spec/replicas | -1 | spec.replicas
          /spec/replicas | 1000001 | spec.replicas
          /spec/leaderWorkerTemplate/size | 4 | spec.leaderWorkerTemplate.size
          /spec/leaderWorkerTemplate/leaderTemplate | null | spec.leaderWorkerTemplate.leaderTemplate
          /spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image | other |
          /spec/leaderWorkerTemplate/workerTemplate/spec/nodeSelector | {a: b} | spec.leaderWorkerTemplate.workerTemplate.spec.nodeSelector
          /spec/leaderWorkerTemplate/leaderTemplate/spec/containers | [{name: c, resources: {requests: {cpu: 1}}}] | spec.leaderWorkerTemplate.leaderTemplate.spec.
          /spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/resources | {limits: {cpu: 1}} | spec.leaderWorkerTemplate.workerTemplate.spec.containers
          /spec/leaderWorkerTemplate/workerTemplate/metadata/annotations | {kueue.x-k8s.io/podset-slice-size: x} | podset-slice-size
          """)
  void whatTheQuotaWasComputedFromDoesNotChange(String path, String value, String problem) {
    JsonNode changed = edited(QUEUED, set(path, value));

    if (problem == null) {
      assertThat(messages(webhook.validate(update(QUEUED, changed)))).isEmpty();
    } else {
      assertThat(messages(webhook.validate(update(QUEUED, changed))).toString()).contains(problem);
    }
  }

  /** The API server keeps the amounts of a custom resource as they were written. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          containers | [{name: c, resources: {requests: {cpu: "1", memory: 1Gi}}}] | [{name: c, resources: {requests: {cpu: 1000m, memory: 1024Mi}}}] | true
          containers | [{name: c, resources: {requests: {cpu: "1"}}}] | [{name: c, resources: {requests: {cpu: 1}}}] | true
          containers | [{name: c, resources: {limits: {cpu: "1"}}}] | [{name: c, resources: {limits: {cpu: 1000m}}}] | true
          containers | [{name: c, resources: {requests: {cpu: "1"}}}] | [{name: c, resources: {requests: {cpu: 1001m}}}] | false
          resources | {requests: {cpu: "1"}} | {requests: {cpu: 1000m}} | true
          resources | {requests: {cpu: "1"}} | {requests: {cpu: 1001m}} | false
          overhead | {cpu: "1"} | {cpu: 1000m} | true
          overhead | {cpu: "1"} | {} | false
          nodeSelector | {cpu: "1"} | {cpu: 1000m} | false
          nodeSelector | {cpu: ""} | {} | false
          """)
  void amountsAreComparedByWhatTheyAre(String field, String before, String now, boolean allowed) {
    String path = TEMPLATES + "/workerTemplate/spec/" + field;
    JsonNode old = edited(QUEUED, set(path, before));

    assertThat(messages(webhook.validate(update(old, edited(old, set(path, now))))).isEmpty())
        .isEqualTo(allowed);
  }

  /** Changes of 0.20, section 4: LWSImmutableGroupSize. */
  @Test
  void onesThatAreNotInAQueueChangeFreely() {
    assertThat(
            messages(
                new LeaderWorkerSetWebhook(settings(), Reviews.Cluster.EMPTY)
                    .validate(update(QUEUED, edited(QUEUED, set(TEMPLATES + "/size", "4"))))))
        .as("without the gate")
        .isEmpty();
    assertThat(
            messages(webhook.validate(update(PLAIN, edited(PLAIN, set(TEMPLATES + "/size", "4"))))))
        .isEmpty();
    assertThat(messages(webhook.validate(create(QUEUED)))).isEmpty();
  }

  /** It would be in its queue again, with the old quota, when it names that owner no more. */
  @ParameterizedTest
  @CsvSource({"lws, 1", "another, 0"})
  void theShapeStaysBelowAnOwnerAsLongAsThereIsAWorkload(String busy, int refused) {
    LeaderWorkerSetWebhook below =
        new LeaderWorkerSetWebhook(
            settings(), new Reviews.Cluster(false, false, true, Map.of(), busy));
    JsonNode old = edited(QUEUED, set("/metadata/uid", "lws"));
    JsonNode changed =
        edited(
            old,
            set("/metadata/ownerReferences", "[{kind: X, name: x, uid: x, controller: true}]"),
            set(TEMPLATES + "/workerTemplate/spec/nodeSelector", "{a: b}"));

    assertThat(messages(below.validate(update(old, changed)))).hasSize(refused);
  }

  @Test
  void theQueueStaysWhileGroupsAreReady() {
    JsonNode ready = edited(QUEUED, set("/status", "{readyReplicas: 1}"));

    assertThat(
            messages(
                    webhook.validate(
                        update(
                            ready,
                            edited(
                                ready,
                                set("/metadata/labels/kueue.x-k8s.io~1queue-name", "other")))))
                .toString())
        .contains("queue-name");
    assertThat(
            messages(
                webhook.validate(
                    update(
                        QUEUED,
                        edited(
                            QUEUED, set("/metadata/labels/kueue.x-k8s.io~1queue-name", "other"))))))
        .isEmpty();
  }

  @Test
  void theKindHasThisWebhook() {
    assertThat(BuiltInIntegrations.descriptions())
        .anySatisfy(
            kind ->
                assertThat(kind.webhooks().review().getClass().getSimpleName())
                    .isEqualTo("GatedGroups"));
  }
}
