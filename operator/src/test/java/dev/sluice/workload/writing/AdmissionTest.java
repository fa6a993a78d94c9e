package dev.sluice.workload.writing;

import static dev.sluice.workload.Templates.workload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.Templates;
import dev.sluice.workload.feed.TranslationOptions;
import dev.sluice.workload.feed.WorkloadEventFeed;
import dev.sluice.workload.feed.WorkloadTranslator;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.status.StatusPatch.RequiredChecks;
import dev.sluice.workload.writing.DecisionExecutor.FirstNomination;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Decisions are carried out on the version they were made for, and explanations are told. */
class AdmissionTest {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00.5Z");
  private static final String SAMPLE =
      """
      metadata:
        name: sample
        namespace: team
        uid: uid-1
        generation: 3
        resourceVersion: "7"
        creationTimestamp: "2026-03-01T10:00:00Z"
      spec:
        queueName: training
        podSets:
        - name: main
          count: 3
          template: {spec: {containers: [{name: a, resources: {requests: {cpu: 500m}}}]}}
      """;
  private static final WorkloadId ID = new WorkloadId("uid-1", "team", "sample");

  private final Map<String, CachedWorkload> known = new HashMap<>();
  private final List<String> written = new CopyOnWriteArrayList<>();
  private final Queue<WorkloadWriter.Outcome> outcomes = new ArrayDeque<>();
  private final List<SchedulerEvent> schedulerEvents = new ArrayList<>();
  private final List<String> told = new CopyOnWriteArrayList<>();
  private volatile Optional<CompletableFuture<WorkloadWriter.Outcome>> held = Optional.empty();
  private final AdmissionObserver observer =
      new AdmissionObserver() {
        @Override
        public void reserved(Decision.Admit decision, CachedWorkload before, boolean admitted) {
          told.add((admitted ? "admitted " : "reserved ") + before.version());
        }

        @Override
        public void explained(PendingExplanation decision, CachedWorkload before) {
          told.add("explained " + before.version());
        }
      };

  private void given(String yaml) {
    CachedWorkload workload = workload(yaml);
    known.put(workload.id().name(), workload);
  }

  private static Decision.Admit admit(long version) {
    return new Decision.Admit(
        ID,
        version,
        "research",
        List.of(
            new PodSetAssignment(
                "main",
                new TreeMap<>(Map.of("cpu", "spot")),
                new TreeMap<>(Map.of("cpu", 1500L, "memory", 1024L)),
                3)),
        NOW,
        NOW,
        List.of());
  }

  @Nested
  class Admissions {

    private final DecisionExecutor admissions =
        new DecisionExecutor(
            new KnownWorkloads(known),
            new Writer(),
            schedulerEvents::add,
            RequiredChecks.UNKNOWN,
            false,
            observer,
            () -> NOW,
            Runnable::run,
            new NewerVersionWaiter(new KnownWorkloads(known), Duration.ofMinutes(1)));

    @Test
    void areOneWriteOfTheVersionThatWasLookedAt() {
      given(SAMPLE);
      outcomes.add(new WorkloadWriter.Outcome.Written(8));

      admissions.accept(admit(7));

      assertThat(written)
          .containsExactly(
              "7 DECISION "
                  + Templates.node(
                      """
                      admission:
                        clusterQueue: research
                        podSetAssignments:
                        - name: main
                          flavors: {cpu: spot}
                          resourceUsage: {cpu: 1500m, memory: 1Ki}
                          count: 3
                      conditions:
                      - type: QuotaReserved
                        status: "True"
                        observedGeneration: 3
                        lastTransitionTime: "2026-03-01T12:00:00Z"
                        reason: QuotaReserved
                        message: Quota reserved in ClusterQueue research
                      - type: Admitted
                        status: "True"
                        observedGeneration: 3
                        lastTransitionTime: "2026-03-01T12:00:00Z"
                        reason: Admitted
                        message: The workload is admitted
                      """));
      assertThat(schedulerEvents).containsExactly(new SchedulerEvent.AdmissionWritten(ID, 8));
      assertThat(told).containsExactly("admitted 7");
    }

    @Test
    void endEarlierEvictionsAndKeepWhatTheySaid() {
      given(
          SAMPLE
              + """
              status:
                resourceRequests: [{name: main, resources: {cpu: 1500m}}]
                conditions:
                - {type: Evicted, status: "True", reason: Preempted, message: for another, lastTransitionTime: "2026-03-01T11:00:00Z"}
                - {type: Preempted, status: "False", reason: QuotaReserved, message: old, lastTransitionTime: "2026-03-01T11:00:00Z"}
              """);
      outcomes.add(new WorkloadWriter.Outcome.Written(8));

      admissions.accept(admit(7));

      assertThat(written.getFirst())
          .contains("\"resourceRequests\":null")
          .contains(
              "\"type\":\"Evicted\",\"status\":\"False\",\"observedGeneration\":3,"
                  + "\"lastTransitionTime\":\"2026-03-01T12:00:00Z\",\"reason\":\"QuotaReserved\","
                  + "\"message\":\"Previously: for another\"")
          .contains(
              "\"lastTransitionTime\":\"2026-03-01T11:00:00Z\",\"reason\":\"QuotaReserved\",\"message\":\"old\"");
    }

    private FirstNomination nomination = FirstNomination.NONE;

    @Test
    void nameTheWorkerClustersInTheSameWrite() {
      given(SAMPLE);
      outcomes.add(new WorkloadWriter.Outcome.Written(8));
      nomination =
          (workload, checks) ->
              new FirstNomination.Clusters(
                  Optional.empty(), checks.stream().map(check -> "of-" + check.name()).toList());

      acceptWithChecks("a");

      assertThat(written).hasSize(1);
      assertThat(written.getFirst()).contains("\"nominatedClusterNames\":[\"of-a\"]");
    }

    @Test
    void keepTheWorkerClusterOfTheReplacedSliceInTheSameWrite() {
      given(SAMPLE);
      outcomes.add(new WorkloadWriter.Outcome.Written(8));
      nomination =
          (workload, checks) -> new FirstNomination.Clusters(Optional.of("one"), List.of());

      acceptWithChecks("a");

      assertThat(written.getFirst())
          .contains("\"clusterName\":\"one\"")
          .doesNotContain("nominatedClusterNames");
    }

    private void acceptWithChecks(String... required) {
      new DecisionExecutor(
              new KnownWorkloads(known),
              new Writer(),
              schedulerEvents::add,
              (queue, flavors, labels) -> {
                assertThat(queue).isEqualTo("research");
                assertThat(flavors.orElseThrow()).hasSize(1);
                return Optional.of(new TreeSet<>(List.of(required)));
              },
              false,
              observer,
              () -> NOW,
              Runnable::run,
              new NewerVersionWaiter(new KnownWorkloads(known), Duration.ofMinutes(1)),
              nomination)
          .accept(admit(7));
    }

    @Test
    void waitForChecksThatAreNotReadyAndNameThemAtOnce() {
      given(SAMPLE);
      outcomes.add(new WorkloadWriter.Outcome.Written(8));

      acceptWithChecks("b", "a");

      assertThat(written.getFirst())
          .contains(
              "\"type\":\"QuotaReserved\",\"status\":\"True\"",
              "\"type\":\"Admitted\",\"status\":\"False\"",
              "\"reason\":\"UnsatisfiedAdmissionChecks\"",
              "\"admissionChecks\":[{\"name\":\"a\",\"state\":\"Pending\",\"message\":\"\","
                  + "\"lastTransitionTime\":\"2026-03-01T12:00:00Z\"},{\"name\":\"b\"");
      assertThat(told).containsExactly("reserved 7");
      assertThat(schedulerEvents)
          .containsExactly(new SchedulerEvent.AdmissionWritten(ID, 8, false));
    }

    @Test
    void areCompleteWhenEveryCheckIsReadyAlready() {
      given(
          SAMPLE
              + """
              status:
                admissionChecks:
                - {name: a, state: Ready, message: "", lastTransitionTime: "2026-03-01T11:00:00Z"}
              """);
      outcomes.add(new WorkloadWriter.Outcome.Written(8));

      acceptWithChecks("a");

      assertThat(written.getFirst())
          .contains("\"type\":\"Admitted\",\"status\":\"True\"")
          .doesNotContain("admissionChecks");
      assertThat(told).containsExactly("admitted 7");
    }

    private static final String[] NINE = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};

    @Test
    void withMoreChecksThanThereIsRoomForAreNotWrittenAndTheWorkloadSaysSo() {
      given(SAMPLE);
      outcomes.add(new WorkloadWriter.Outcome.Written(8));

      acceptWithChecks(NINE);

      assertThat(written.getFirst())
          .contains(
              "\"type\":\"QuotaReserved\",\"status\":\"False\"",
              "\"reason\":\"Misconfigured\"",
              "It needs 9 admission checks, and its status has room for 8: a, b, c, d, e, f, g, h,"
                  + " i")
          .doesNotContain("\"admission\"", "admissionChecks");
      assertThat(schedulerEvents)
          .as("the new version is looked at next")
          .containsExactly(new SchedulerEvent.AdmissionRefused(ID, 7, true));
      assertThat(told).isEmpty();
    }

    @Test
    void withoutRoomForTheChecksAreTriedAgainLaterOnceThatIsSaid() {
      given(
          SAMPLE
              + """
              status:
                conditions:
                - {type: QuotaReserved, status: "False", reason: Misconfigured, message: "It needs 9 admission checks, and its status has room for 8: a, b, c, d, e, f, g, h, i", observedGeneration: 3, lastTransitionTime: "2026-03-01T11:00:00Z"}
                - {type: Admitted, status: "False", reason: NoReservation, message: The workload has no reservation, observedGeneration: 3, lastTransitionTime: "2026-03-01T11:00:00Z"}
              """);

      acceptWithChecks(NINE);

      assertThat(written).isEmpty();
      assertThat(schedulerEvents)
          .containsExactly(new SchedulerEvent.AdmissionRefused(ID, 7, false));
    }

    @Test
    void ofAWorkloadThatMovedOnAreSupersededWithoutAWrite() {
      given(SAMPLE.replace("\"7\"", "\"9\""));
      admissions.accept(admit(7));
      assertThat(written).isEmpty();
      assertThat(schedulerEvents).containsExactly(new SchedulerEvent.AdmissionRefused(ID, 7, true));
    }

    @Test
    void ofAWorkloadThatIsGoneAreSuperseded() {
      admissions.accept(admit(7));
      given(SAMPLE.replace("uid-1", "uid-2"));
      admissions.accept(admit(7));
      assertThat(schedulerEvents)
          .containsExactly(
              new SchedulerEvent.AdmissionRefused(ID, 7, true),
              new SchedulerEvent.AdmissionRefused(ID, 7, true));
    }

    @Test
    void thatLoseTheRaceAreSuperseded() {
      given(SAMPLE);
      outcomes.add(new WorkloadWriter.Outcome.Conflict());
      admissions.accept(admit(7));
      assertThat(schedulerEvents).containsExactly(new SchedulerEvent.AdmissionRefused(ID, 7, true));
      assertThat(told).isEmpty();
    }

    /** Nobody else would tell the engine, which counts their quota. */
    @Test
    void thatFailBeforeTheirWriteAreTriedAgainLater() {
      given(SAMPLE);
      assertThat(outcomes).as("the writer throws without one").isEmpty();
      admissions.accept(admit(7));
      assertThat(schedulerEvents)
          .containsExactly(new SchedulerEvent.AdmissionRefused(ID, 7, false));
    }

    @Test
    void whosePlacesFailBeforeTheirWriteArePlacedAgain() {
      given(
          SAMPLE
              + """
              status:
                admission: {clusterQueue: research, podSetAssignments: []}
                conditions:
                - {type: QuotaReserved, status: "True", lastTransitionTime: "2026-03-01T10:00:00Z"}
              """);
      assertThat(outcomes).as("the writer throws without one").isEmpty();
      admissions.accept(new PlacementDecision.Place(ID, List.of(), Set.of(), List.of()));
      assertThat(schedulerEvents).containsExactly(new SchedulerEvent.PlacementRefused(ID));
    }

    @Test
    void thatAreForbiddenAreTriedAgainLater() {
      given(SAMPLE);
      outcomes.add(new WorkloadWriter.Outcome.Refused(422, "no"));
      admissions.accept(admit(7));
      assertThat(schedulerEvents)
          .containsExactly(new SchedulerEvent.AdmissionRefused(ID, 7, false));
    }
  }

  @Nested
  class PendingReasons {

    private final Queue<PendingExplanation> untold = new ArrayDeque<>();
    private final PendingReasonReporter pump =
        new PendingReasonReporter(
            new Questions(),
            new KnownWorkloads(known),
            new Writer(),
            new WorkloadTranslator(new Templates.Context(), TranslationOptions.DEFAULT),
            explanation -> explanation.detail(),
            true,
            observer,
            () -> NOW,
            () -> 1);

    @AfterEach
    void end() {
      pump.close();
    }

    private void explain(String detail) {
      explain(ID, detail);
    }

    private void explain(WorkloadId id, String detail) {
      synchronized (untold) {
        untold.add(
            new PendingExplanation(
                id, 7, new Explanation(PendingReason.WAITING_FOR_QUOTA, List.of(), detail)));
      }
      pump.changed(Set.of(), Set.of(), Set.of());
    }

    @Test
    void saysWhyAndWhatIsRequested() {
      given(SAMPLE);
      outcomes.add(new WorkloadWriter.Outcome.Written(8));
      pump.start();
      explain("cpu is short");

      await().untilAsserted(() -> assertThat(written).hasSize(1));
      assertThat(told).containsExactly("explained 7");
      assertThat(written.getFirst())
          .startsWith("7 BEST_EFFORT ")
          .contains(
              "\"resourceRequests\":[{\"name\":\"main\",\"resources\":{\"cpu\":\"1500m\"}}]",
              "\"type\":\"QuotaReserved\",\"status\":\"False\"",
              "\"reason\":\"WaitingForQuota\",\"message\":\"cpu is short\"",
              "\"type\":\"Admitted\",\"status\":\"False\"",
              "\"reason\":\"NoReservation\"");
    }

    @Test
    void isWrittenAnewOnWhatMovedOnButStillWaits() {
      given(SAMPLE.replace("\"7\"", "\"9\""));
      outcomes.add(new WorkloadWriter.Outcome.Conflict());
      outcomes.add(new WorkloadWriter.Outcome.Written(10));
      pump.start();
      explain("cpu is short");
      await().untilAsserted(() -> assertThat(written).hasSize(2));
      assertThat(told).containsExactly("explained 9");
    }

    @Test
    void saysAlsoThatThePodsOfAJobAreNotReadyYet() {
      given(
          SAMPLE.replace(
              "  generation: 3\n",
              "  generation: 3\n  ownerReferences: [{kind: Job, controller: true}]\n"));
      outcomes.add(new WorkloadWriter.Outcome.Written(8));
      pump.start();
      explain("cpu is short");
      await().untilAsserted(() -> assertThat(written).hasSize(1));
      assertThat(written.getFirst())
          .contains("\"type\":\"PodsReady\",\"status\":\"False\"", "WaitForStart");
    }

    @Test
    void isNotWrittenTwiceNorToWhatDoesNotWait() {
      given(
          SAMPLE
              + """
              status:
                conditions:
                - {type: QuotaReserved, status: "False", reason: WaitingForQuota, message: same, lastTransitionTime: "2026-03-01T11:00:00Z"}
                - {type: Admitted, status: "False", reason: NoReservation, message: The workload has no reservation, lastTransitionTime: "2026-03-01T11:00:00Z"}
              """);
      pump.start();
      explain("same");
      await().untilAsserted(() -> assertThat(untold).isEmpty());
      given(SAMPLE.replace("queueName: training", "active: false"));
      explain("other");
      await().untilAsserted(() -> assertThat(untold).isEmpty());
      given(SAMPLE);
      outcomes.add(new WorkloadWriter.Outcome.Written(8));
      explain("last");
      await().untilAsserted(() -> assertThat(written).hasSize(1));
      assertThat(told).hasSize(1);
      assertThat(written.getFirst()).contains("last");
    }

    @Test
    void pausesTheLongerTheMoreTheApiServerHasToDo() {
      assertThat(PendingReasonReporter.pause(1)).isEqualTo(Duration.ZERO);
      assertThat(PendingReasonReporter.pause(0.8)).isEqualTo(Duration.ofMillis(250));
      assertThat(PendingReasonReporter.pause(0.5)).isEqualTo(Duration.ofSeconds(1));
      assertThat(PendingReasonReporter.pause(0.1)).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void goesOnAfterAFault() {
      given(SAMPLE);
      pump.start();
      explain("no outcome is prepared: the writer fails");
      await().untilAsserted(() -> assertThat(written).hasSize(1));

      outcomes.add(new WorkloadWriter.Outcome.Written(8));
      explain("second");
      await().untilAsserted(() -> assertThat(written).hasSize(2));
      assertThat(told).hasSize(2);
    }

    /** The engine explains them once, and nothing may change in the cluster for long. */
    @Test
    void ofTheOthersIsWrittenAfterAWriteThatFailed() {
      given(SAMPLE);
      given(SAMPLE.replace("sample", "other").replace("uid-1", "uid-other"));
      CompletableFuture<WorkloadWriter.Outcome> answer = new CompletableFuture<>();
      held = Optional.of(answer);
      explain("first");
      explain(new WorkloadId("uid-other", "team", "other"), "second");
      pump.start();
      await().untilAsserted(() -> assertThat(written).hasSize(1));

      held = Optional.empty();
      outcomes.add(new WorkloadWriter.Outcome.Written(8));
      answer.completeExceptionally(new IllegalStateException("failed"));
      await().untilAsserted(() -> assertThat(written).hasSize(2));
      assertThat(written.getLast()).contains("second");
    }

    /** The engine explains it once: it would be missing until something else is to be said. */
    @ParameterizedTest
    @ValueSource(ints = {429, 503})
    void isWrittenAfterTheOthersWhenTheApiServerHasTimeAgain(int code) {
      given(SAMPLE);
      given(SAMPLE.replace("sample", "other").replace("uid-1", "uid-other"));
      outcomes.add(new WorkloadWriter.Outcome.Refused(code, "not now"));
      outcomes.add(new WorkloadWriter.Outcome.Written(8));
      outcomes.add(new WorkloadWriter.Outcome.Written(8));
      explain("first");
      explain(new WorkloadId("uid-other", "team", "other"), "second");
      pump.start();
      await().untilAsserted(() -> assertThat(written).hasSize(3));
      assertThat(written.get(1)).contains("second");
      assertThat(written.getLast()).contains("first");
      assertThat(told).hasSize(2);
    }

    @Test
    void isNotWrittenAgainAfterARefusalForGood() {
      given(SAMPLE);
      outcomes.add(new WorkloadWriter.Outcome.Refused(403, "no"));
      outcomes.add(new WorkloadWriter.Outcome.Written(8));
      explain("first");
      pump.start();
      await().untilAsserted(() -> assertThat(written).hasSize(1));
      explain("second");
      await().untilAsserted(() -> assertThat(written).hasSize(2));
      assertThat(written.getLast()).contains("second");
    }

    @Test
    void isToldAtOnceAndOnceUntilItsTurnToBeWrittenComes() {
      given(SAMPLE);
      for (int i = 0; i < 100; i++) {
        given(SAMPLE.replace("sample", "other-" + i).replace("uid-1", "uid-other-" + i));
      }
      CompletableFuture<WorkloadWriter.Outcome> answer = new CompletableFuture<>();
      held = Optional.of(answer);
      for (int i = 0; i < 100; i++) {
        explain(new WorkloadId("uid-other-" + i, "team", "other-" + i), "cpu is short");
      }
      explain("cpu is short");
      explain("cpu is shorter");
      pump.start();

      await().untilAsserted(() -> assertThat(told).hasSize(101));
      assertThat(written).hasSize(1);

      held = Optional.empty();
      for (int i = 0; i < 101; i++) {
        outcomes.add(new WorkloadWriter.Outcome.Written(8));
      }
      answer.complete(new WorkloadWriter.Outcome.Written(8));
      await().untilAsserted(() -> assertThat(written).hasSize(101));
      assertThat(told).hasSize(101);
      assertThat(written.getLast()).contains("cpu is shorter");
    }

    private final class Questions implements SchedulerQueries {

      @Override
      public CompletableFuture<List<PendingExplanation>> unreportedExplanations(int max) {
        synchronized (untold) {
          List<PendingExplanation> all = List.copyOf(untold);
          untold.clear();
          return CompletableFuture.completedFuture(all);
        }
      }

      @Override
      public CompletableFuture<Optional<List<PendingPosition>>> pendingInClusterQueue(
          String clusterQueue, int offset, int limit) {
        throw new AssertionError("not asked");
      }

      @Override
      public CompletableFuture<Optional<List<PendingPosition>>> pendingInLocalQueue(
          LocalQueueId queue, int offset, int limit) {
        throw new AssertionError("not asked");
      }

      @Override
      public CompletableFuture<Optional<PendingReport>> pendingReason(WorkloadId id) {
        throw new AssertionError("not asked");
      }
    }
  }

  @Nested
  class Feed {

    private final Templates.Context context = new Templates.Context().unresolved();
    private final WorkloadEventFeed feed =
        new WorkloadEventFeed(
            new WorkloadTranslator(context, TranslationOptions.DEFAULT),
            new KnownWorkloads(known),
            schedulerEvents::add);

    private static final String RESERVING =
        """
        status:
          admission:
            clusterQueue: research
            podSetAssignments:
            - {name: main, count: 3, flavors: {cpu: spot}, resourceUsage: {cpu: "3"}}
          conditions:
          - {type: QuotaReserved, status: "True", reason: QuotaReserved, lastTransitionTime: "2026-03-01T11:00:00Z"}
        """;

    @Test
    void tellsEachVersionOfWhatWaits() {
      CachedWorkload first = workload(SAMPLE);
      CachedWorkload second = workload(SAMPLE.replace("\"7\"", "\"8\""));
      feed.changed(null, first);
      feed.changed(first, second);
      assertThat(schedulerEvents)
          .extracting(
              schedulerEvent ->
                  ((SchedulerEvent.WorkloadPending) schedulerEvent).workload().version())
          .containsExactly(7L, 8L);
    }

    @Test
    void tellsOfUseOnlyWhenItChanges() {
      CachedWorkload first = workload(SAMPLE + RESERVING);
      CachedWorkload same = workload(SAMPLE.replace("\"7\"", "\"8\"") + RESERVING);
      CachedWorkload less =
          workload(
              SAMPLE.replace("\"7\"", "\"9\"")
                  + RESERVING
                  + "  reclaimablePods: [{name: main, count: 1}]\n");
      feed.changed(null, first);
      feed.changed(first, same);
      feed.changed(same, less);
      assertThat(schedulerEvents)
          .extracting(
              schedulerEvent ->
                  ((SchedulerEvent.WorkloadReserving) schedulerEvent).workload().version())
          .containsExactly(7L, 9L);
    }

    @Test
    void tellsWhenWhatHoldsQuotaIsEvicted() {
      CachedWorkload running = workload(SAMPLE + RESERVING);
      CachedWorkload evicted =
          workload(
              SAMPLE.replace("\"7\"", "\"8\"")
                  + RESERVING
                  + "  - {type: Evicted, status: \"True\", reason: Preempted}\n");
      feed.changed(running, evicted);
      assertThat(schedulerEvents)
          .extracting(
              schedulerEvent ->
                  ((SchedulerEvent.WorkloadReserving) schedulerEvent).workload().evicted())
          .containsExactly(true);
    }

    @Test
    void tellsOfTheEndOnce() {
      CachedWorkload waiting = workload(SAMPLE);
      CachedWorkload inactive = workload(SAMPLE.replace("queueName: training", "active: false"));
      feed.changed(null, inactive);
      assertThat(schedulerEvents).as("the engine never knew it").isEmpty();
      feed.changed(waiting, inactive);
      feed.changed(inactive, inactive);
      feed.changed(inactive, null);
      assertThat(schedulerEvents)
          .containsExactly(
              new SchedulerEvent.WorkloadReleased(ID, 7),
              new SchedulerEvent.WorkloadReleased(ID, Long.MAX_VALUE));
    }

    private static final String CLAIMING =
        SAMPLE.replace(
            "{spec: {", "{spec: {resourceClaims: [{name: c, resourceClaimTemplateName: t}], ");

    @Test
    void whatWaitsLeavesTheQueueWhenItsDevicesAreMissing() {
      given(CLAIMING);
      feed.devicesChanged("other");
      assertThat(schedulerEvents).isEmpty();
      feed.devicesChanged("team");
      assertThat(schedulerEvents.removeFirst()).isInstanceOf(SchedulerEvent.WorkloadPending.class);
      context.unresolved("the template is missing");
      feed.devicesChanged("");
      assertThat(schedulerEvents).containsExactly(new SchedulerEvent.WorkloadReleased(ID, 7));
      schedulerEvents.clear();
      feed.changed(workload(CLAIMING), workload(CLAIMING.replace("\"7\"", "\"8\"")));
      assertThat(schedulerEvents)
          .as("the engine may have kept it, because its admission was being written")
          .containsExactly(new SchedulerEvent.WorkloadReleased(ID, 8));
    }

    @Test
    void whatHasNoDevicesIsNotToldAnewWhenDevicesChange() {
      given(SAMPLE.replace("cpu: 500m", "cpu: 500m, example.com/other: 1"));
      feed.devicesChanged("");
      assertThat(schedulerEvents).isEmpty();
    }

    /** Changes of 0.20, section 2. */
    @Test
    void tellsWhatWaitsAnewWhenTheRulesOfItsNamespaceChange() {
      given(SAMPLE);
      feed.rulesChanged("other");
      assertThat(schedulerEvents).isEmpty();
      feed.rulesChanged("team");
      assertThat(schedulerEvents).hasSize(1);
    }
  }

  private final class Writer implements StatusWriter {

    @Override
    public CompletableFuture<Outcome> patchStatus(
        WorkloadId id, long version, JsonNode status, Urgency urgency) {
      written.add(version + " " + urgency + " " + status);
      if (held.isPresent()) {
        return held.get();
      }
      return CompletableFuture.completedFuture(outcomes.remove());
    }
  }
}
