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
import dev.sluice.webhooks.Reviews.Cluster;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionResult;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What runs leaves room for its end (docs/webhooks.md#what-is-done-to-a-job). */
class RoomProtectionTest {

  private static final JsonNode JOB =
      yaml(
          """
          apiVersion: batch/v1
          kind: Job
          metadata: {name: a, namespace: team, labels: {kueue.x-k8s.io/queue-name: q}, annotations: {}}
          spec: {suspend: true, parallelism: 1, template: {spec: {containers: []}}}
          """);

  private final AdmissionFunction function =
      Objects.requireNonNull(
          Webhooks.functions(settings(), Cluster.EMPTY).get("/validate-batch-v1-job"));

  private static JsonNode padded(int bytes) {
    return edited(JOB, set("/metadata/annotations/pad", "v".repeat(bytes)));
  }

  @Test
  void whatWouldTakeAllThatIsStoredIsRefused() {
    assertThat(function.review(create(padded(1_300_000))))
        .isInstanceOf(AdmissionResult.Allowed.class);
    assertThat(messages(function.review(create(padded(1_311_000)))))
        .singleElement()
        .asString()
        .startsWith("metadata: Forbidden: the object would take 1311")
        .endsWith("it may take 1310720, so that its end can be stored");
    assertThat(function.review(update(JOB, padded(1_311_000))))
        .isInstanceOf(AdmissionResult.Rejected.class);
    assertThat(
            function.review(
                update(JOB, edited(JOB, set("/metadata/annotations/pad", "<".repeat(230_000))))))
        .as("characters that are stored escaped")
        .isInstanceOf(AdmissionResult.Rejected.class);
  }

  /** It may be older than this rule: it can be changed, and stopped, as long as it doesn't grow. */
  @Test
  void whatIsThatLargeAlreadyMayShrink() {
    JsonNode large = padded(1_400_000);
    assertThat(function.review(update(large, padded(1_399_000))))
        .isInstanceOf(AdmissionResult.Allowed.class);
    assertThat(function.review(update(large, padded(1_401_000))))
        .isInstanceOf(AdmissionResult.Rejected.class);
  }
}
