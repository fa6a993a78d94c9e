package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.create;
import static dev.sluice.webhooks.Reviews.edited;
import static dev.sluice.webhooks.Reviews.set;
import static dev.sluice.webhooks.Reviews.settings;
import static dev.sluice.webhooks.Reviews.update;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.core.model.BudgetSpec.Scope;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.webhooks.EmptyCluster;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Budgets that stop queues of a cluster that runs: time axis of the contract, section 8. */
class BudgetWarningsTest {

  private static final JsonNode BUDGET =
      yaml(
          """
          apiVersion: sluice.dev/v1alpha1
          kind: Budget
          metadata: {name: team}
          spec:
            scope: {clusterQueue: pool}
            limits: [{resource: cpu, hours: 500}]
          """);

  private static final JsonNode AS_USED = edited(BUDGET, set("/spec/charge", "AsUsed"));

  private Optional<SortedSet<LocalQueueId>> queues = Optional.empty();

  private List<String> warnings(AdmissionRequest request) {
    EmptyCluster cluster =
        new EmptyCluster() {
          @Override
          public Optional<SortedSet<LocalQueueId>> queuesWithoutRunTime(Scope scope) {
            assertThat(scope).isEqualTo(new Scope.OfClusterQueue("pool"));
            return queues;
          }
        };
    AdmissionResult result =
        Objects.requireNonNull(
                Webhooks.functions(settings(), cluster).get("/validate-sluice-dev-v1alpha1-budget"))
            .review(request);
    return ((AdmissionResult.Allowed) result).warnings();
  }

  private void given(String... names) {
    SortedSet<LocalQueueId> found = new TreeSet<>();
    List.of(names).forEach(name -> found.add(new LocalQueueId("vision", name)));
    queues = Optional.of(found);
  }

  @Test
  void whoStopsJobsOfUnknownRunTimeIsWarned() {
    given("train", "test", "tune");
    String warning =
        "spec.charge: Reserved (the default) keeps every job of unknown run time in LocalQueue"
            + " vision/test and 2 more from starting: set sluice.dev/default-run-time of the"
            + " queue, or charge: AsUsed";
    assertThat(warnings(create(BUDGET))).containsExactly(warning);
    assertThat(warnings(update(AS_USED, BUDGET))).containsExactly(warning);
    given("a".repeat(250));
    assertThat(warnings(create(BUDGET)).getFirst()).hasSizeLessThan(256);
    queues = Optional.empty();
    assertThat(warnings(create(BUDGET)))
        .containsExactly(
            "spec.charge: Reserved (the default) keeps every job of unknown run time from"
                + " starting: set sluice.dev/default-run-time of the queue, or charge: AsUsed");
  }

  @Test
  void whoStopsNobodyIsNotWarned() {
    given("train");
    assertThat(warnings(create(AS_USED))).isEmpty();
    assertThat(warnings(create(edited(BUDGET, set("/spec/action", "Warn"))))).isEmpty();
    assertThat(warnings(update(BUDGET, edited(BUDGET, set("/spec/limits/0/hours", "600")))))
        .as("it held these jobs before")
        .isEmpty();
    given();
    assertThat(warnings(create(BUDGET))).as("every queue has a run time").isEmpty();
  }
}
