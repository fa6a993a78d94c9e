package dev.sluice.workload.writing;

import static dev.sluice.workload.Templates.workload;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.Preemptions;
import dev.sluice.workload.status.StatusPatch.RequiredChecks;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Victims of preemptions are evicted (docs/workload-semantics.md#eviction). */
class PreemptionWriterTest {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00.5Z");
  private static final WorkloadId PREEMPTOR = new WorkloadId("uid-p", "team", "urgent");
  private static final String MESSAGE =
      "Preempted to accommodate a workload (UID: uid-p, JobUID: job-p) due to reclamation within"
          + " the cohort; preemptor path: /org/research; preemptee path: /org/batch; preemptor"
          + " effective priority: 10; preemptee effective priority: -1";

  private final Map<String, CachedWorkload> known = new HashMap<>();
  private final List<String> written = new ArrayList<>();
  private final List<CompletableFuture<Outcome>> answers = new ArrayList<>();
  private final List<SchedulerEvent> schedulerEvents = new ArrayList<>();
  private final List<String> told = new ArrayList<>();
  private final NewerVersionWaiter news =
      new NewerVersionWaiter(new KnownWorkloads(known), Duration.ofMinutes(1));
  private final DecisionExecutor admissions =
      new DecisionExecutor(
          new KnownWorkloads(known),
          new Writer(),
          schedulerEvents::add,
          RequiredChecks.UNKNOWN,
          false,
          new AdmissionObserver() {
            @Override
            public void checkpointRequested(
                Decision.Preempt decision, Decision.Target target, Duration grace) {
              told.add(target.id() + ": asked for " + grace);
            }

            @Override
            public void preempted(
                Decision.Preempt decision,
                Decision.Target target,
                CachedWorkload before,
                String message) {
              told.add(target.id() + ": " + message);
            }
          },
          () -> NOW,
          Runnable::run,
          news);

  private void givenPreemptor() {
    known.put(
        "urgent",
        workload(
            """
            metadata: {name: urgent, namespace: team, uid: uid-p, resourceVersion: "5", labels: {kueue.x-k8s.io/job-uid: job-p}}
            spec: {queueName: training, podSets: []}
            """));
  }

  private void givenVictim(String name, long version, String status) {
    known.put(
        name,
        workload(
            """
            metadata: {name: %s, namespace: team, uid: uid-%s, resourceVersion: "%d", generation: 2}
            spec: {queueName: training, podSets: []}
            status:
              admission: {clusterQueue: batch}
              %s
              conditions:
              - {type: QuotaReserved, status: "True", reason: QuotaReserved, lastTransitionTime: "2026-03-01T11:00:00Z"}
            """
                .formatted(name, name, version, status)));
  }

  private static Decision.Preempt decision(String... victims) {
    return new Decision.Preempt(
        PREEMPTOR,
        5,
        "research",
        List.of("org", "research"),
        10,
        List.of(victims).stream().map(PreemptionWriterTest::victim).toList(),
        NOW);
  }

  private static Decision.Target victim(String name) {
    return new Decision.Target(
        new WorkloadId("uid-" + name, "team", name),
        7,
        List.of("org", "batch"),
        -1,
        PreemptionReason.IN_COHORT_RECLAMATION);
  }

  @Test
  void timesAreRememberedForALimitAndAsManyAsItCounts() {
    String before =
        "- {type: sluice.dev/PreemptedAt, status: 'True', reason: Preempted, message:"
            + " '2026-02-01T00:00:00Z, 2026-03-01T09:00:00Z, 2026-03-01T10:00:00Z',"
            + " lastTransitionTime: '2026-02-01T00:00:00Z'}";
    CachedWorkload workload =
        workload(
            """
            metadata: {name: low, namespace: team, uid: uid-low, resourceVersion: "7"}
            spec: {queueName: training, podSets: []}
            status:
              conditions:
              - {type: QuotaReserved, status: "True", lastTransitionTime: "2026-03-01T10:01:00Z"}
              %s
            """
                .formatted(before));
    assertThat(timesAfter(workload, Optional.empty())).contains("2026-02-01T00:00:00Z, ");
    assertThat(timesAfter(workload, Optional.of(new PreemptionLimit(5, Duration.ofHours(24)))))
        .contains("2026-03-01T09:00:00Z, 2026-03-01T10:00:00Z, " + "2026-03-01T12:00:00Z")
        .doesNotContain("2026-02-01T00:00:00Z, ");
    assertThat(timesAfter(workload, Optional.of(new PreemptionLimit(2, Duration.ofHours(24)))))
        .contains("2026-03-01T10:00:00Z, " + "2026-03-01T12:00:00Z")
        .doesNotContain("2026-03-01T09:00:00Z");
  }

  private static String timesAfter(CachedWorkload workload, Optional<PreemptionLimit> limit) {
    Decision.Target target =
        new Decision.Target(
            workload.id(),
            7,
            List.of(),
            0,
            PreemptionReason.IN_CLUSTER_QUEUE,
            new PreemptionRules(Optional.empty(), limit, Optional.empty(), false));
    return Preemptions.evicted(workload, target, "why", NOW).toString();
  }

  @Test
  void aVictimIsEvictedInOneWriteThatSaysForWhomAndWhy() {
    givenPreemptor();
    givenVictim(
        "lazy",
        7,
        """
        admissionChecks:
          - {name: a, state: Ready, message: fine, lastTransitionTime: "2026-03-01T11:00:00Z"}
        """
            .strip());

    admissions.accept(decision("lazy"));
    answers.getFirst().complete(new Outcome.Written(8));

    assertThat(written).hasSize(1);
    assertThat(written.getFirst())
        .startsWith("lazy 7 DECISION ")
        .contains(
            "\"type\":\"Evicted\",\"status\":\"True\",\"observedGeneration\":2,"
                + "\"lastTransitionTime\":\"2026-03-01T12:00:00Z\",\"reason\":\"Preempted\","
                + "\"message\":\""
                + MESSAGE,
            "\"type\":\"Preempted\",\"status\":\"True\",\"observedGeneration\":2,"
                + "\"lastTransitionTime\":\"2026-03-01T12:00:00Z\","
                + "\"reason\":\"InCohortReclamation\",\"message\":\""
                + MESSAGE,
            "\"name\":\"a\",\"state\":\"Pending\"",
            "\"evictions\":[{\"reason\":\"Preempted\",\"underlyingCause\":\"\",\"count\":1}]")
        .doesNotContain("\"admission\":");
    assertThat(told).containsExactly("team/lazy: " + MESSAGE);
    assertThat(schedulerEvents).isEmpty();
  }

  private void givenAsked(long version, String annotations) {
    known.put(
        "lazy",
        workload(
            """
            metadata: {name: lazy, namespace: team, uid: uid-lazy, resourceVersion: "%d", annotations: {%s}}
            spec: {queueName: training, podSets: []}
            status:
              admission: {clusterQueue: batch}
              conditions:
              - {type: QuotaReserved, status: "True", reason: QuotaReserved, lastTransitionTime: "2026-03-01T11:00:00Z"}
            """
                .formatted(version, annotations)));
  }

  private static Decision.Preempt withGrace(Duration grace) {
    Decision.Target target = victim("lazy");
    return new Decision.Preempt(
        PREEMPTOR,
        5,
        "research",
        List.of("org", "research"),
        10,
        List.of(
            new Decision.Target(
                target.id(),
                target.version(),
                target.path(),
                target.priority(),
                target.reason(),
                PreemptionRules.NONE.withCheckpointGrace(Optional.of(grace)))),
        NOW);
  }

  private static final String ASKED = "sluice.dev/checkpoint-requested-at: 2026-03-01T12:00:00Z";

  @Test
  void aVictimIsAskedForACheckpointAndEvictedWhenItAnswers() {
    givenPreemptor();
    givenAsked(7, "");
    admissions.accept(withGrace(Duration.ofMinutes(2)));
    assertThat(written)
        .containsExactly(
            "lazy 7 {\"metadata\":{\"annotations\":{\"sluice.dev/checkpoint-requested-at\":"
                + "\"2026-03-01T12:00:00Z\"}}}");
    answers.getFirst().complete(new Outcome.Written(8));
    assertThat(told).containsExactly("team/lazy: asked for PT2M");
    givenAsked(8, ASKED);
    seen("lazy");
    givenAsked(9, ASKED + ", sluice.dev/checkpointed-at: 2026-03-01T11:59:59Z");
    seen("lazy");
    assertThat(written).as("the checkpoint is older than the request").hasSize(1);

    givenAsked(10, ASKED + ", sluice.dev/checkpointed-at: 2026-03-01T12:00:00Z");
    seen("lazy");
    assertThat(written).hasSize(2);
    assertThat(written.getLast()).startsWith("lazy 10 DECISION ").contains("Preempted");
  }

  /** Its owner may have filled its annotations up to what the API server lets them have. */
  @Test
  void aVictimThatCannotBeAskedIsEvictedAtOnce() {
    givenPreemptor();
    givenAsked(7, "");
    admissions.accept(withGrace(Duration.ofMinutes(2)));
    answers.getFirst().complete(new Outcome.Refused(422, "metadata.annotations: Too long"));
    assertThat(written).hasSize(2);
    assertThat(written.getLast()).startsWith("lazy 7 DECISION ").contains("Preempted");
  }

  @Test
  void aVictimKeepsItsGraceWhileTheApiServerFails() {
    givenPreemptor();
    givenAsked(7, "");
    admissions.accept(withGrace(Duration.ofMinutes(2)));
    answers.getFirst().complete(new Outcome.Refused(500, "etcdserver: leader changed"));
    assertThat(written).hasSize(1);
  }

  @Test
  void aVictimThatDoesNotAnswerIsEvictedWhenTheGraceIsOver() {
    givenPreemptor();
    givenAsked(8, "sluice.dev/checkpoint-requested-at: 2026-03-01T11:58:00Z");
    admissions.accept(withGrace(Duration.ofMinutes(2)));
    assertThat(written).singleElement().asString().startsWith("lazy 8 DECISION ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"2026-03-01T10:59:59Z", "2026-03-01T11:55:59Z", "never", ""})
  void aRequestOfAnotherPreemptionDoesNotCount(String requestedAt) {
    givenPreemptor();
    givenAsked(8, "sluice.dev/checkpoint-requested-at: \"%s\"".formatted(requestedAt));
    admissions.accept(withGrace(Duration.ofMinutes(2)));
    assertThat(written).singleElement().asString().contains("checkpoint-requested-at");
  }

  @Test
  void aVictimKeepsItsQuotaWhenThePreemptorWaitsNoMore() {
    givenPreemptor();
    givenAsked(8, ASKED);
    admissions.accept(withGrace(Duration.ofMinutes(2)));
    assertThat(written).isEmpty();
    known.remove("urgent");
    givenAsked(9, ASKED);
    seen("lazy");
    assertThat(written)
        .containsExactly(
            "lazy 0"
                + " {\"metadata\":{\"annotations\":{\"sluice.dev/checkpoint-requested-at\":null}}}");
    answers.getFirst().complete(new Outcome.Written(10));
    assertThat(schedulerEvents)
        .containsExactly(new SchedulerEvent.EvictionRefused(victim("lazy").id(), 7));
  }

  /** It needn't answer first, nor has its grace to be over. */
  @Test
  void aRequestIsTakenBackAsSoonAsThePreemptorIsGone() {
    givenPreemptor();
    givenAsked(8, ASKED);
    admissions.accept(withGrace(Duration.ofMinutes(2)));
    CachedWorkload preemptor = known.remove("urgent");
    news.changed(preemptor, null);
    assertThat(written)
        .containsExactly(
            "lazy 0"
                + " {\"metadata\":{\"annotations\":{\"sluice.dev/checkpoint-requested-at\":null}}}");
    answers.getFirst().complete(new Outcome.Written(9));
    assertThat(schedulerEvents)
        .containsExactly(new SchedulerEvent.EvictionRefused(victim("lazy").id(), 7));
  }

  @Test
  void eightAreEvictedAtATime() {
    givenPreemptor();
    String[] names = IntStream.range(0, 20).mapToObj(i -> "v" + i).toArray(String[]::new);
    for (String name : names) {
      givenVictim(name, 7, "");
    }

    admissions.accept(decision(names));
    assertThat(written).hasSize(8);
    answers.get(3).complete(new Outcome.Written(8));
    assertThat(written).hasSize(9);
    for (int i = 0; i < 20; i++) {
      answers.get(i).complete(new Outcome.Written(8));
    }

    assertThat(written).hasSize(20);
    assertThat(told).hasSize(20);
  }

  @Test
  void aVictimThatOnlyChangedIsEvictedAsItIsNow() {
    givenPreemptor();
    givenVictim("lazy", 9, "");

    admissions.accept(decision("lazy"));
    givenVictim("lazy", 11, "");
    answers.getFirst().complete(new Outcome.Conflict());
    answers.getLast().complete(new Outcome.Written(12));

    assertThat(written)
        .extracting(line -> line.substring(0, 7))
        .containsExactly("lazy 9 ", "lazy 11");
    assertThat(told).hasSize(1);
    assertThat(schedulerEvents).isEmpty();
  }

  @Test
  void aVictimThatHoldsNothingAnyMoreIsReported() {
    givenPreemptor();
    known.put(
        "lazy",
        workload(
            """
            metadata: {name: lazy, namespace: team, uid: uid-lazy, resourceVersion: "9"}
            spec: {queueName: training, podSets: []}
            """));

    admissions.accept(decision("lazy", "gone"));

    assertThat(written).isEmpty();
    assertThat(schedulerEvents)
        .containsExactlyInAnyOrder(
            new SchedulerEvent.EvictionRefused(victim("lazy").id(), 7),
            new SchedulerEvent.EvictionRefused(victim("gone").id(), 7));
  }

  @Test
  void aVictimWhoseEvictionIsRefusedIsReportedAndTheOthersGo() {
    givenPreemptor();
    givenVictim("one", 7, "");
    givenVictim("two", 7, "");

    admissions.accept(decision("one", "two"));
    answers.get(0).complete(new Outcome.Refused(422, "no"));
    answers.get(1).complete(new Outcome.Written(8));
    assertThat(told).singleElement().asString().startsWith("team/two");
    assertThat(schedulerEvents)
        .as("decided anew before there is news it would be refused again")
        .isEmpty();

    givenVictim("one", 9, "");
    seen("one");
    assertThat(schedulerEvents)
        .containsExactly(new SchedulerEvent.EvictionRefused(victim("one").id(), 7));
  }

  /** Nobody else would tell the engine, for which they are leaving. */
  @Test
  void victimsWhoseEvictionFailsBeforeItsWriteAreReportedAndTheOthersGo() {
    givenPreemptor();
    List<String> names = new ArrayList<>(List.of("last"));
    IntStream.range(0, 8).forEach(i -> names.addFirst("broken" + i));
    for (String name : names) {
      givenVictim(name, 7, "");
    }

    admissions.accept(decision(names.toArray(String[]::new)));
    assertThat(written).singleElement().asString().startsWith("last 7 ");
    assertThat(schedulerEvents).as("decided anew now it would fail again").isEmpty();
    names.subList(0, 8).forEach(this::seen);
    assertThat(schedulerEvents)
        .hasSize(8)
        .contains(new SchedulerEvent.EvictionRefused(victim("broken0").id(), 7));
  }

  @Test
  void aVictimWhoseAdmissionIsOnItsWayIsEvictedWhenThatIsSeen() {
    givenPreemptor();
    known.put(
        "lazy",
        workload(
            """
            metadata: {name: lazy, namespace: team, uid: uid-lazy, resourceVersion: "7"}
            spec: {queueName: training, podSets: []}
            status:
              conditions:
              - {type: Evicted, status: "True", reason: Preempted, lastTransitionTime: "2026-03-01T11:00:00Z"}
            """));

    admissions.accept(decision("lazy"));
    assertThat(written).isEmpty();
    assertThat(schedulerEvents).isEmpty();

    givenVictim("lazy", 8, "");
    seen("lazy");
    assertThat(written).singleElement().asString().startsWith("lazy 8 ");
    assertThat(schedulerEvents).isEmpty();
  }

  @Test
  void aConflictIsNotTriedAgainBeforeTheNewVersionIsSeen() {
    givenPreemptor();
    givenVictim("lazy", 7, "");

    admissions.accept(decision("lazy"));
    answers.getFirst().complete(new Outcome.Conflict());
    assertThat(written).hasSize(1);

    givenVictim("lazy", 8, "");
    seen("lazy");
    assertThat(written).hasSize(2);
  }

  private void seen(String name) {
    news.changed(null, known.get(name));
  }

  @Test
  void nobodyIsEvictedForAWorkloadThatWaitsNoMore() {
    givenVictim("lazy", 7, "");
    admissions.accept(decision("lazy"));
    assertThat(written).isEmpty();
    assertThat(schedulerEvents)
        .containsExactly(new SchedulerEvent.EvictionRefused(victim("lazy").id(), 7));
  }

  private final class Writer implements StatusWriter {

    @Override
    public CompletableFuture<Outcome> patch(WorkloadId id, long version, JsonNode patch) {
      written.add(id.name() + " " + version + " " + patch);
      CompletableFuture<Outcome> answer = new CompletableFuture<>();
      answers.add(answer);
      return answer;
    }

    @Override
    public CompletableFuture<Outcome> patchStatus(
        WorkloadId id, long version, JsonNode status, Urgency urgency) {
      if (id.name().startsWith("broken")) {
        throw new IllegalStateException(id.name());
      }
      written.add(id.name() + " " + version + " " + urgency + " " + status);
      CompletableFuture<Outcome> answer = new CompletableFuture<>();
      answers.add(answer);
      return answer;
    }
  }
}
