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
import dev.sluice.webhooks.EmptyCluster;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.kinds.Webhooks.PodGroupMembershipWebhook;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which pods become members of a PodGroup of kube-scheduler, and who may not ask for one. */
class PodGroupMembershipWebhookTest {

  private static final String GROUP = "/metadata/annotations/sluice.dev~1pod-group";
  private static final JsonNode POD =
      yaml(
          """
          kind: Pod
          metadata: {name: a, namespace: team, annotations: {sluice.dev/pod-group: job-a-main}}
          spec: {containers: []}
          """);

  private final PodGroupMembershipWebhook webhook =
      new PodGroupMembershipWebhook(
          new EmptyCluster() {
            @Override
            public boolean isScheduledPodGroup(String namespace, String podGroup) {
              return namespace.equals("team") && podGroup.equals("scheduled");
            }
          });

  @Test
  void aPodJoinsTheGroupThatItNames() {
    assertThat(Reviews.patch(webhook.review(create(POD))))
        .containsExactly(
            "{\"op\":\"add\",\"path\":\"/spec/schedulingGroup\","
                + "\"value\":{\"podGroupName\":\"job-a-main\"}}");
  }

  @Test
  void aReplacementJoinsNone() {
    assertThat(Reviews.patch(webhook.review(create(edited(POD, set(GROUP, "scheduled"))))))
        .isEmpty();
  }

  @Test
  void aPodKeepsTheGroupThatItHas() {
    JsonNode member = edited(POD, set("/spec/schedulingGroup", "{podGroupName: other}"));
    assertThat(Reviews.patch(webhook.review(create(member)))).isEmpty();
  }

  @Test
  void aPodThatIsThereCannotJoin() {
    assertThat(Reviews.patch(webhook.review(update(POD, POD)))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"''", "Not_A_Name", "7", "[]", "{a: b}"})
  void whatNoGroupCanBeNamedIsNone(String name) {
    assertThat(Reviews.patch(webhook.review(create(edited(POD, set(GROUP, name))))))
        .allSatisfy(operation -> assertThat(operation).contains("\"podGroupName\":\"7\""));
  }

  @Test
  void podsThatAreThereBeforeTheyAreAdmittedMayNotAsk() {
    JsonNode set =
        yaml(
            """
            apiVersion: apps/v1
            kind: Deployment
            metadata:
              name: web
              namespace: team
              labels: {kueue.x-k8s.io/queue-name: serving}
              annotations: {kueue.x-k8s.io/was-podgroup: "true"}
            spec: {template: {spec: {containers: []}}}
            """);
    String message =
        "metadata.annotations[kueue.x-k8s.io/was-podgroup]: Forbidden: only jobs that a field"
            + " suspends get PodGroups";
    assertThat(
            messages(
                new DeploymentWebhook(settings("WASPodGroups"), Reviews.Cluster.EMPTY)::validate,
                create(set)))
        .contains(message);
    assertThat(
            messages(
                new PodWebhook(settings("WASPodGroups"), Reviews.Cluster.EMPTY)::validate,
                create(set)))
        .contains(message);
  }
}
