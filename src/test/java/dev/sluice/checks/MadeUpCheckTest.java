package dev.sluice.checks;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.AdmissionCheckParametersReference;
import dev.sluice.api.v1beta2.AdmissionCheckSpec;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.kube.Fakes;
import dev.sluice.kube.workqueue.WorkQueueSettings;
import dev.sluice.queues.mapping.CheckControllerDescription;
import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.CachedWorkload.CheckState;
import dev.sluice.workload.WorkloadWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A check that is made up: Workloads of a queue with a budget pass, others are rejected. */
class MadeUpCheckTest {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  private static final class Budget implements AdmissionCheckController {

    private boolean open = true;

    @Override
    public CheckControllerDescription description() {
      return CheckControllerDescription.local("example.com/budget");
    }

    @Override
    public Optional<ActiveCondition> condition(AdmissionCheckSpec check) {
      return Optional.of(
          check.parameters() == null
              ? new ActiveCondition(true, "Active", "")
              : new ActiveCondition(false, "BadParameters", "spec.parameters: none are allowed"));
    }

    @Override
    public Optional<Answer> answer(CachedWorkload workload, CheckState state) {
      return Optional.of(
          open
              ? new Answer(CheckState.READY, "within the budget")
              : new Answer(CheckState.REJECTED, "the budget is spent"));
    }
  }

  /** Notes the statuses that are written; nothing else is. */
  private final class Statuses implements WorkloadWriter {

    @Override
    public CompletableFuture<Outcome> patchStatus(
        WorkloadId id, long version, JsonNode status, Urgency urgency) {
      statuses.add(status);
      return CompletableFuture.completedFuture(new Outcome.Written(version + 1));
    }

    @Override
    public CompletableFuture<Outcome> patch(WorkloadId id, long version, JsonNode patch) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Outcome> create(String namespace, JsonNode workload) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Outcome> delete(WorkloadId id) {
      throw new UnsupportedOperationException();
    }
  }

  private final List<JsonNode> statuses = new ArrayList<>();
  private final Budget budget = new Budget();
  private final Fakes.SetWorkloads workloads = new Fakes.SetWorkloads();
  private final Map<String, String> controllers =
      Map.of("money", "example.com/budget", "other", "example.com/other");
  private boolean leading = true;
  private final CheckStateReconciler reconciler =
      new CheckStateReconciler(
          budget,
          name -> Optional.ofNullable(controllers.get(name)).map(MadeUpCheckTest::check),
          workloads,
          new CheckStateWriter(new Statuses()),
          () -> leading,
          () -> NOW,
          WorkQueueSettings.of(Runnable::run, (delay, task) -> {}));

  private static AdmissionCheck check(String controller) {
    AdmissionCheck check = new AdmissionCheck();
    check.setSpec(new AdmissionCheckSpec(controller, null));
    return check;
  }

  private static GivenWorkload reserved() {
    return workloadOf(job()).reserved("spot");
  }

  private List<String> written(GivenWorkload given) {
    CachedWorkload workload = given.get();
    workloads.workloads.put(workload.id().name(), workload);
    reconciler.changed(null, workload);
    return statuses.stream().map(status -> status.path("admissionChecks").toString()).toList();
  }

  @Test
  void aWorkloadThatHoldsQuotaIsAnswered() {
    assertThat(written(reserved().check("money", "Pending", "").check("other", "Ready", "fine")))
        .singleElement()
        .asString()
        .contains(
            "\"name\":\"money\",\"state\":\"Ready\",\"message\":\"within the budget\","
                + "\"lastTransitionTime\":\"2026-03-01T12:00:00Z\"")
        .contains("\"name\":\"other\",\"state\":\"Ready\",\"message\":\"fine\"");
  }

  @Test
  void nothingIsWrittenForOthers() {
    assertThat(written(reserved().check("other", "Pending", ""))).isEmpty();
    assertThat(written(reserved().check("gone", "Pending", ""))).isEmpty();
    assertThat(written(workloadOf(job()).check("money", "Pending", ""))).isEmpty();
    assertThat(written(reserved().check("money", "Ready", "within the budget"))).isEmpty();
    leading = false;
    assertThat(written(reserved().check("money", "Pending", ""))).isEmpty();
  }

  @Test
  void aNewAnswerIsWrittenWhenTheControllerAsksForIt() {
    GivenWorkload workload = reserved().check("money", "Ready", "within the budget");
    assertThat(written(workload)).isEmpty();
    budget.open = false;

    reconciler.enqueueAll();

    assertThat(statuses)
        .singleElement()
        .satisfies(
            status ->
                assertThat(status.at("/admissionChecks/0/state").asText()).isEqualTo("Rejected"));
  }

  @Test
  void itSaysWhetherItsParametersAreRight() {
    assertThat(budget.condition(new AdmissionCheckSpec("example.com/budget", null)))
        .hasValueSatisfying(condition -> assertThat(condition.status()).isTrue());
    assertThat(
            budget.condition(
                new AdmissionCheckSpec(
                    "example.com/budget", new AdmissionCheckParametersReference("a", "b", "c"))))
        .hasValueSatisfying(condition -> assertThat(condition.reason()).isEqualTo("BadParameters"));
  }
}
