package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.create;
import static dev.sluice.webhooks.Reviews.edited;
import static dev.sluice.webhooks.Reviews.messages;
import static dev.sluice.webhooks.Reviews.set;
import static dev.sluice.webhooks.Reviews.update;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.webhooks.EmptyCluster;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.review.AdmissionFunction;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may write what a job tells of its status in another cluster. */
class RemoteStatusProtectionTest {

  private static final String REFUSED =
      "metadata.annotations[sluice.dev/remote-status]: Forbidden: is written by the operator alone";

  private static final JsonNode PLAIN =
      yaml("{kind: Job, metadata: {name: a, annotations: {x: y}}, spec: {suspend: true}}");
  private static final JsonNode TELLING =
      edited(PLAIN, set("/metadata/annotations/sluice.dev~1remote-status", "\"{}\""));
  private static final JsonNode TELLING_MORE =
      edited(PLAIN, set("/metadata/annotations/sluice.dev~1remote-status", "'{\"active\":1}'"));

  /** Where the operator is called {@code somebody}, as the requests of these tests say, or not. */
  private record Known(boolean isOperator) implements EmptyCluster {

    @Override
    public boolean isOperator(String user) {
      return isOperator && user.equals("somebody");
    }
  }

  private static AdmissionFunction rules(String path, boolean isOperator) {
    return Objects.requireNonNull(
        Webhooks.functions(Reviews.settings(), new Known(isOperator)).get(path));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/validate-batch-v1-job",
        "/validate--v1-pod",
        "/validate-apps-v1-statefulset",
        "/validate-jobset-x-k8s-io-v1alpha2-jobset"
      })
  void onlyTheOperatorWritesIt(String path) {
    AdmissionFunction others = rules(path, false);
    assertThat(messages(others.review(create(TELLING)))).containsExactly(REFUSED);
    assertThat(messages(others.review(update(PLAIN, TELLING)))).containsExactly(REFUSED);
    assertThat(messages(others.review(update(TELLING, TELLING_MORE)))).containsExactly(REFUSED);
    assertThat(messages(others.review(update(TELLING, PLAIN)))).containsExactly(REFUSED);
    assertThat(messages(others.review(update(TELLING, TELLING)))).isEmpty();

    AdmissionFunction operator = rules(path, true);
    assertThat(messages(operator.review(create(TELLING)))).isEmpty();
    assertThat(messages(operator.review(update(TELLING, TELLING_MORE)))).isEmpty();
    assertThat(messages(operator.review(update(TELLING, PLAIN)))).isEmpty();
  }
}
