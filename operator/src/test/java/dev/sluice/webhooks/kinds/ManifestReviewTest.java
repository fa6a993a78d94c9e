package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.kinds.ManifestReview.Reviewed;
import dev.sluice.webhooks.review.WebhookRouter.RequestingUser;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A manifest that nobody sends gets the defaults and the errors of its webhook. */
class ManifestReviewTest {

  private static final JobKind JOB = JobKind.of("batch", "v1", "Job");

  private static final RequestingUser SOMEBODY = new RequestingUser("somebody", Set.of(), true);

  private final ManifestReview review =
      new ManifestReview(
          Webhooks.functions(Reviews.settings(), Reviews.Cluster.EMPTY), WebhookKind.all());

  private Reviewed review(String manifest) {
    return review.of(JOB, (ObjectNode) yaml(manifest), SOMEBODY);
  }

  @Test
  void theDefaultsAreSet() {
    ObjectNode manifest =
        (ObjectNode) yaml("{metadata: {namespace: team, labels: {kueue.x-k8s.io/queue-name: lq}}}");
    Reviewed reviewed = review.of(JOB, manifest, SOMEBODY);

    assertThat(reviewed.errors()).isEmpty();
    assertThat(reviewed.object().at("/spec/suspend").asBoolean()).isTrue();
    assertThat(manifest.has("spec")).as("the manifest is not changed").isFalse();
  }

  @Test
  void theErrorsAreTold() {
    assertThat(
            review("{metadata: {namespace: team, labels: {kueue.x-k8s.io/queue-name: L_Q}}}")
                .errors())
        .singleElement()
        .asString()
        .contains("metadata.labels[kueue.x-k8s.io/queue-name]", "L_Q");
  }
}
