package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.create;
import static dev.sluice.webhooks.Reviews.update;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.webhooks.EmptyCluster;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.kinds.Webhooks.PodsOfJobsWebhook;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A pod that a job may run, or not. */
class PodsOfJobsWebhookTest {

  private static final JsonNode POD = yaml("{kind: Pod, metadata: {name: a, namespace: team}}");

  private static AdmissionFunction webhook(Optional<String> excess) {
    return new PodsOfJobsWebhook(
        new EmptyCluster() {
          @Override
          public Optional<String> excessWith(AdmissionRequest request) {
            return excess;
          }
        });
  }

  @Test
  void theFieldThatMakesAPodRunIsNamed() {
    AdmissionFunction webhook = webhook(Optional.of("too much, pods: 2 of 1"));
    assertThat(Reviews.messages(webhook.review(create(POD))))
        .containsExactly("metadata.ownerReferences: Forbidden: too much, pods: 2 of 1");
    assertThat(Reviews.messages(webhook.review(update(POD, POD))))
        .containsExactly("spec.schedulingGates: Forbidden: too much, pods: 2 of 1");
  }

  @Test
  void whatIsNoExcessIsAllowed() {
    assertThat(webhook(Optional.empty()).review(create(POD))).isEqualTo(AdmissionResult.allowed());
  }
}
