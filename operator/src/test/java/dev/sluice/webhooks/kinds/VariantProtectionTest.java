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
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Tenants don't decide which Workload is charged for which. */
class VariantProtectionTest {

  private static final JsonNode PLAIN =
      yaml(
          """
          kind: Workload
          metadata: {name: a, namespace: team, labels: {x: y}, annotations: {x: y}}
          spec:
            queueName: q
            podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: i}]}}}]
          """);
  private static final JsonNode PARENT =
      edited(PLAIN, set("/metadata/labels/kueue.x-k8s.io~1concurrent-admission-parent", "'true'"));
  private static final JsonNode FLAVORED =
      edited(
          PLAIN,
          set("/metadata/annotations/kueue.x-k8s.io~1workload-allowed-resource-flavors", "spot"));
  private static final JsonNode OWNED =
      edited(
          PLAIN,
          set(
              "/metadata/ownerReferences",
              "[{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, name: p, uid: u,"
                  + " controller: true}]"));

  private record Known(boolean isOperator) implements EmptyCluster {

    @Override
    public boolean isOperator(String user) {
      return isOperator;
    }
  }

  private static AdmissionFunction rules(boolean isOperator, String... gates) {
    return Objects.requireNonNull(
        Webhooks.functions(Reviews.settings(gates), new Known(isOperator))
            .get("/validate-kueue-x-k8s-io-v1beta2-workload"));
  }

  @Test
  void onlyTheOperatorRelatesWorkloads() {
    AdmissionFunction others = rules(false, "ConcurrentAdmission");
    for (JsonNode related : List.of(PARENT, FLAVORED, OWNED)) {
      assertThat(messages(others.review(create(related))))
          .singleElement()
          .asString()
          .startsWith("metadata.")
          .contains("written by the operator alone");
      assertThat(messages(others.review(update(PLAIN, related)))).hasSize(1);
      assertThat(messages(others.review(update(related, PLAIN)))).hasSize(1);
      assertThat(messages(others.review(update(related, related)))).isEmpty();
      assertThat(messages(rules(true, "ConcurrentAdmission").review(create(related)))).isEmpty();
      assertThat(messages(rules(false).review(create(related)))).isEmpty();
    }
  }

  @Test
  void theSpecOfAVariantIsItsParents() {
    AdmissionFunction others = rules(false, "ConcurrentAdmission");

    assertThat(
            messages(others.review(update(FLAVORED, edited(FLAVORED, set("/spec/priority", "9"))))))
        .containsExactly("spec: Forbidden: of a variant is written by the operator alone");
    assertThat(messages(others.review(update(PLAIN, edited(PLAIN, set("/spec/priority", "9"))))))
        .isEmpty();
  }
}
