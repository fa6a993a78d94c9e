package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.create;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What is added to the reviews of jobs that are created or only tried, and to no others. */
class CreationAnswersTest {

  private static final String JOB = "/validate-batch-v1-job";
  private static final JsonNode GOOD =
      yaml("{kind: Job, metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: lq}}}");
  private static final JsonNode BAD =
      yaml("{kind: Job, metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: L_Q}}}");

  private final Map<String, AdmissionFunction> functions =
      CreationAnswers.around(
          Webhooks.functions(Reviews.settings(), Reviews.Cluster.EMPTY),
          WebhookKind.all(),
          request -> List.of((request.dryRun() ? "dry run of " : "creation of ") + request.name()));

  private AdmissionResult review(String path, AdmissionRequest request) {
    return Objects.requireNonNull(functions.get(path)).review(request);
  }

  private static AdmissionRequest dry(AdmissionRequest request) {
    return new AdmissionRequest(
        request.uid(),
        request.operation(),
        request.subResource(),
        request.group(),
        request.kind(),
        request.namespace(),
        request.name(),
        request.requestingUser(),
        request.object(),
        request.oldObject(),
        true);
  }

  private static List<String> warnings(AdmissionResult result) {
    return ((AdmissionResult.Allowed) result).warnings();
  }

  @Test
  void whoCreatesAJobGetsTheLines() {
    AdmissionRequest creation = create(GOOD);
    assertThat(warnings(review(JOB, dry(creation)))).contains("dry run of " + creation.name());
    assertThat(warnings(review(JOB, creation))).contains("creation of " + creation.name());
  }

  @Test
  void updatesMutationsAndOtherKindsGetNone() {
    assertThat(warnings(review(JOB, dry(Reviews.update(GOOD, GOOD))))).isEmpty();
    assertThat(warnings(review("/mutate-batch-v1-job", dry(create(GOOD))))).isEmpty();
    assertThat(warnings(review("/validate-kueue-x-k8s-io-v1beta2-cohort", dry(create(GOOD)))))
        .isEmpty();
  }

  @Test
  void aRefusalStaysARefusal() {
    assertThat(review(JOB, dry(create(BAD)))).isInstanceOf(AdmissionResult.Rejected.class);
  }
}
