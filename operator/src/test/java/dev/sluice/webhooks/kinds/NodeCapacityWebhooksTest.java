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
import dev.sluice.webhooks.review.AdmissionFunction;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Checks that ask for nodes by placeholder pods, and these pods. */
class NodeCapacityWebhooksTest {

  private static final String TIMEOUT = "/metadata/annotations/sluice.dev~1node-capacity-timeout";
  private static final String WRONG =
      "metadata.annotations[sluice.dev/node-capacity-timeout]: Invalid value: \"soon\": must be a"
          + " duration of at least 1s and of at most 87600h, such as 8h";

  private static final JsonNode CHECK =
      yaml(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: AdmissionCheck
          metadata: {name: a, annotations: {sluice.dev/node-capacity-timeout: 5m}}
          spec: {controllerName: sluice.dev/node-capacity}
          """);
  private static final JsonNode WRONG_CHECK = edited(CHECK, set(TIMEOUT, "soon"));

  private static final JsonNode PLACEHOLDER =
      yaml(
          """
          kind: Pod
          metadata:
            name: a
            namespace: team
            labels: {sluice.dev/placeholder: "true", kueue.x-k8s.io/queue-name: training}
          spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
          """);

  private static final EmptyCluster CLUSTER =
      new EmptyCluster() {
        @Override
        public boolean isOperator(String user) {
          return user.equals("operator");
        }
      };

  private final AdmissionFunction checks =
      Objects.requireNonNull(
          Webhooks.functions(settings(), CLUSTER)
              .get("/validate-kueue-x-k8s-io-v1beta2-admissioncheck"));
  private final PodWebhook pods = new PodWebhook(settings(), CLUSTER);

  @Test
  void aWrongAnnotationIsRefusedWhenItIsWritten() {
    assertThat(messages(checks::review, create(CHECK))).isEmpty();
    assertThat(messages(checks::review, create(WRONG_CHECK))).containsExactly(WRONG);
    assertThat(messages(checks::review, update(CHECK, WRONG_CHECK))).containsExactly(WRONG);
    assertThat(messages(checks::review, update(WRONG_CHECK, WRONG_CHECK))).isEmpty();
  }

  @Test
  void annotationsOfOtherControllersAreTheirOwn() {
    assertThat(
            messages(
                checks::review,
                create(edited(WRONG_CHECK, set("/spec/controllerName", "other.dev/x")))))
        .isEmpty();
  }

  @Test
  void onlyTheOperatorMakesPlaceholdersWhichNoQueueHolds() {
    assertThat(Reviews.patch(pods.mutate(create(PLACEHOLDER, "operator")))).isEmpty();
    assertThat(messages(pods::validate, create(PLACEHOLDER, "operator"))).isEmpty();

    assertThat(Reviews.patch(pods.mutate(create(PLACEHOLDER, "alice")))).isNotEmpty();
    assertThat(messages(pods::validate, create(PLACEHOLDER, "alice")))
        .containsExactly(
            "metadata.labels[sluice.dev/placeholder]: Forbidden: is written by the operator alone");
    assertThat(messages(pods::validate, update(PLACEHOLDER, PLACEHOLDER)))
        .noneMatch(message -> message.contains("placeholder"));
  }

  @Test
  void onlyTheOperatorChangesPlaceholders() {
    JsonNode other = edited(PLACEHOLDER, set("/spec/containers/0/image", "mine"));
    assertThat(messages(pods::validate, update(PLACEHOLDER, other)))
        .contains("spec: Forbidden: a placeholder is changed by the operator alone");
  }
}
