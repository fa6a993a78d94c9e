package dev.sluice.checks.multikueue.placement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.dispatch.Dispatcher;
import dev.sluice.checks.multikueue.placement.ManagerState.Check;
import dev.sluice.checks.multikueue.placement.WorkerState.Copy;
import dev.sluice.checks.multikueue.placement.WorkerState.Difference;
import dev.sluice.checks.multikueue.placement.WorkerState.Ending;
import dev.sluice.checks.multikueue.placement.WorkerState.Gate;
import dev.sluice.checks.multikueue.placement.WorkloadPlacement.PlacementPlan;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** One Workload between a manager and the workers a and b, as both stand. */
class WorkloadPlacementTest {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final Duration LOST = Duration.ofMinutes(15);
  private static final WorkloadPlacement PLACEMENT =
      new WorkloadPlacement(new Dispatcher.AllAtOnce(), LOST);

  private final Map<String, WorkerState> workerStates = new TreeMap<>();

  WorkloadPlacementTest() {
    workerStates.put("a", EMPTY);
    workerStates.put("b", EMPTY);
  }

  private static final WorkerState EMPTY =
      new WorkerState(true, Optional.empty(), Optional.empty());

  private static ManagerState local(
      boolean reserving, boolean evicted, Check check, String... cluster) {
    return new ManagerState(
        false,
        reserving,
        evicted,
        check,
        true,
        new ManagerState.Sendable.Yes(),
        cluster.length == 0 ? Optional.empty() : Optional.of(cluster[0]),
        List.of(),
        Optional.empty());
  }

  private static ManagerState waiting() {
    return local(true, false, Check.PENDING);
  }

  private static ManagerState asked(String... nominated) {
    return new ManagerState(
        false,
        true,
        false,
        Check.PENDING,
        true,
        new ManagerState.Sendable.Yes(),
        Optional.empty(),
        List.of(nominated),
        Optional.empty());
  }

  private static ManagerState runningIn(String cluster) {
    return local(true, false, Check.READY, cluster);
  }

  private static Copy fresh() {
    return new Copy(Optional.empty(), Optional.empty(), Optional.empty(), Difference.NONE);
  }

  private static Copy blockedByGate() {
    return new Copy(
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Difference.NONE,
        "",
        Optional.of(new Gate(Optional.of(NOW.minusSeconds(1)), Optional.empty())));
  }

  private static Copy admitted(int minutesAgo) {
    return new Copy(
        Optional.empty(),
        Optional.empty(),
        Optional.of(NOW.minus(Duration.ofMinutes(minutesAgo))),
        Difference.NONE);
  }

  private static Copy evicted(int minutesAgo) {
    return new Copy(
        Optional.empty(),
        Optional.of(NOW.minus(Duration.ofMinutes(minutesAgo))),
        Optional.empty(),
        Difference.NONE);
  }

  private static Copy finished(String reason) {
    return new Copy(
        Optional.of(new Ending(reason, "the end")),
        Optional.empty(),
        Optional.of(NOW),
        Difference.NONE);
  }

  private static Copy differing(Difference difference) {
    return new Copy(Optional.empty(), Optional.empty(), Optional.of(NOW), difference);
  }

  private void has(String cluster, Copy copy) {
    workerStates.put(cluster, new WorkerState(true, Optional.empty(), Optional.of(copy)));
  }

  private void lost(String cluster, int minutesAgo, Copy lastSeen) {
    workerStates.put(
        cluster,
        new WorkerState(
            false, Optional.of(NOW.minus(Duration.ofMinutes(minutesAgo))), Optional.of(lastSeen)));
  }

  private PlacementPlan plan(ManagerState managerState) {
    return PLACEMENT.decide(managerState, List.of("b", "a"), workerStates, NOW);
  }

  private PlacementPlan plan(Dispatcher dispatcher, ManagerState managerState) {
    return new WorkloadPlacement(dispatcher, LOST)
        .decide(managerState, List.of("b", "a"), workerStates, NOW);
  }

  // 1: what can't be sent

  private static ManagerState unsendable(boolean reserving, boolean evicted, Check check) {
    return local(reserving, evicted, check).unsendable("not managed");
  }

  @Test
  void aJobThatCannotBeSentIsRejectedOnce() {
    assertThat(plan(unsendable(true, false, Check.PENDING)))
        .isEqualTo(PlacementPlan.of(new PlacementAction.Reject("not managed")));
    assertThat(plan(unsendable(true, false, Check.REJECTED))).isEqualTo(PlacementPlan.nothing());
  }

  /** The eviction has set the check back, for the next reservation. */
  @Test
  void itIsNotRejectedAgainWhileItIsSentBackOrHasNoQuota() {
    has("a", fresh());
    PlacementPlan withdrawn = PlacementPlan.of(new PlacementAction.Withdraw("a"));

    assertThat(plan(unsendable(true, true, Check.PENDING))).isEqualTo(withdrawn);
    assertThat(plan(unsendable(false, false, Check.PENDING))).isEqualTo(withdrawn);
    assertThat(plan(unsendable(false, true, Check.PENDING))).isEqualTo(withdrawn);
  }

  // 2: what is over here ends there

  @Test
  void withoutQuotaHereNothingStaysThere() {
    has("a", admitted(1));
    has("b", fresh());

    assertThat(plan(local(false, false, Check.PENDING)))
        .isEqualTo(
            new PlacementPlan(
                List.of(new PlacementAction.Withdraw("a"), new PlacementAction.Withdraw("b")),
                Optional.empty()));
  }

  @Test
  void whatIsInALostWorkerIsWithdrawnLater() {
    lost("a", 1, admitted(1));

    assertThat(plan(local(false, false, Check.PENDING)))
        .isEqualTo(new PlacementPlan(List.of(), Optional.of(NOW.plus(LOST))));
  }

  @Test
  void whatIsOverIsWithdrawnWhateverElseIsTrue() {
    has("a", finished("Succeeded"));
    ManagerState over =
        new ManagerState(
            true,
            true,
            false,
            Check.READY,
            true,
            new ManagerState.Sendable.No("gone"),
            Optional.of("a"),
            List.of(),
            Optional.empty());

    assertThat(plan(over).placementActions()).containsExactly(new PlacementAction.Withdraw("a"));
  }

  // 3: the end there is the end here

  @Test
  void theEndThereIsTheEndHere() {
    has("b", finished("Succeeded"));

    assertThat(plan(runningIn("b")))
        .isEqualTo(PlacementPlan.of(new PlacementAction.Finish("b", "Succeeded", "the end")));
  }

  @Test
  void outOfSyncIsTriedAgainIfItRan() {
    has("b", finished("OutOfSync"));

    assertThat(plan(runningIn("b")).placementActions())
        .containsExactly(
            new PlacementAction.Retry(
                "Worker cluster \"b\" has another job than this cluster: the end"));
    assertThat(plan(waiting()).placementActions()).isEqualTo(othersAreAsked("b"));
  }

  /** A worker whose job is gone did not run it to its end (changes of 0.20, section 2). */
  @Test
  void anOwnerThatIsGoneInTheWorkerIsNoEnd() {
    has("b", finished("OwnerNotFound"));

    assertThat(plan(runningIn("b")).placementActions())
        .containsExactly(
            new PlacementAction.Retry(
                "Worker cluster \"b\" lost the job of the workload: the end"));
    assertThat(plan(waiting()).placementActions()).isEqualTo(othersAreAsked("b"));
  }

  /** A copy that ended so stays as it is: it is withdrawn, and nobody waits for that. */
  private static List<PlacementAction> othersAreAsked(String stale) {
    return List.of(
        new PlacementAction.Withdraw(stale),
        new PlacementAction.Nominate(List.of("a", "b")),
        new PlacementAction.Offer("a"));
  }

  /** A retry of what is sent back already would keep its job's status from being cleared. */
  @Test
  void aFailedSyncOfWhatIsSentBackHereAndThereIsNotTriedAgain() {
    has(
        "b",
        new Copy(
            Optional.of(new Ending("OutOfSync", "the end")),
            Optional.of(NOW),
            Optional.empty(),
            Difference.NONE));

    assertThat(plan(local(true, true, Check.PENDING)))
        .isEqualTo(PlacementPlan.of(new PlacementAction.SyncStatus("b")));
    assertThat(plan(runningIn("b")).placementActions())
        .containsExactly(new PlacementAction.Retry("Worker cluster \"b\" evicted the workload"));
  }

  @Test
  void aFailedSyncElsewhereEndsNothingThatRuns() {
    has("a", finished("OutOfSync"));
    has("b", admitted(1));

    assertThat(plan(runningIn("b")).placementActions())
        .containsExactly(new PlacementAction.Withdraw("a"), new PlacementAction.Run("b"));
  }

  /** A pod group, or a Workload that was made beforehand, has the name of an earlier one. */
  @Test
  void aCopyOfAnEarlierWorkloadOfThisNameIsOnlyWithdrawn() {
    has(
        "b",
        new Copy(
            Optional.of(new Ending("Succeeded", "the end")),
            Optional.empty(),
            Optional.of(NOW),
            Difference.OTHER_WORKLOAD));

    assertThat(plan(waiting()).placementActions()).isEqualTo(othersAreAsked("b"));
    assertThat(plan(runningIn("b")).placementActions())
        .containsExactly(
            new PlacementAction.Withdraw("b"),
            new PlacementAction.Retry("Worker cluster \"b\" has the workload no more"));
    has(
        "b",
        new Copy(Optional.empty(), Optional.empty(), Optional.of(NOW), Difference.OTHER_WORKLOAD));
    assertThat(plan(waiting()).placementActions()).isEqualTo(othersAreAsked("b"));
    assertThat(Objects.requireNonNull(workerStates.get("b")).copy().orElseThrow().mayRun())
        .isFalse();
  }

  @Test
  void aPodThatWasDeletedThereToEvictItBeforeItRanHereIsOfferedAnew() {
    has(
        "b",
        new Copy(
            Optional.of(new Ending("OwnerNotFound", "the end")),
            Optional.of(NOW),
            Optional.empty(),
            Difference.NONE));

    assertThat(plan(waiting()).placementActions()).isEqualTo(othersAreAsked("b"));
    assertThat(plan(local(true, true, Check.PENDING)).placementActions())
        .containsExactly(new PlacementAction.SyncStatus("b"));
  }

  /** A pod is deleted to evict it, so that its remote Workload is evicted and finished. */
  @Test
  void anEvictedWorkloadWhosePodIsGoneIsAnEviction() {
    has(
        "b",
        new WorkerState.Copy(
            Optional.of(new WorkerState.Ending("OwnerNotFound", "the end")),
            Optional.of(NOW),
            Optional.empty(),
            Difference.NONE));

    assertThat(plan(runningIn("b")).placementActions())
        .containsExactly(new PlacementAction.Retry("Worker cluster \"b\" evicted the workload"));
  }

  /** As the replacement of a slice of an elastic job is, whose job runs there. */
  @Test
  void whatIsBoundToAWorkerIsOfferedToThatOneWithoutANomination() {
    has("a", fresh());
    workerStates.put("b", new WorkerState(true, Optional.empty(), Optional.empty()));
    ManagerState bound =
        new ManagerState(
            false,
            true,
            false,
            Check.PENDING,
            true,
            new ManagerState.Sendable.Yes(),
            Optional.of("b"),
            List.of(),
            Optional.empty());

    assertThat(plan(bound).placementActions())
        .containsExactly(new PlacementAction.Withdraw("a"), new PlacementAction.Offer("b"));
    workerStates.remove("a");
    has("b", admitted(1));
    assertThat(plan(bound).placementActions()).containsExactly(new PlacementAction.Run("b"));
  }

  @Test
  void theLastWordOfALostWorkerDoesNotCount() {
    lost("b", 1, finished("Succeeded"));

    assertThat(plan(runningIn("b")).placementActions()).isEmpty();
  }

  // 4: sent back there

  @Test
  void whatIsSentBackThereIsOfferedAnew() {
    has("b", evicted(1));

    assertThat(plan(runningIn("b")))
        .isEqualTo(
            PlacementPlan.of(
                new PlacementAction.Retry("Worker cluster \"b\" evicted the workload")));
  }

  @Test
  void whatIsSentBackHereAndThereIsMirrored() {
    has("b", evicted(1));
    has("a", evicted(2));

    assertThat(plan(local(true, true, Check.READY, "b")))
        .isEqualTo(PlacementPlan.of(new PlacementAction.SyncStatus("b")));
    assertThat(plan(local(true, true, Check.PENDING)))
        .isEqualTo(PlacementPlan.of(new PlacementAction.SyncStatus("a")));
  }

  @Test
  void whatAnotherWorkerStoppedDoesNotSendItBackFromWhereItRuns() {
    has("a", evicted(1));
    has("b", admitted(1));

    assertThat(plan(runningIn("b")).placementActions())
        .containsExactly(new PlacementAction.Withdraw("a"), new PlacementAction.Run("b"));
    assertThat(plan(local(true, true, Check.READY, "b")).placementActions())
        .containsExactly(new PlacementAction.Withdraw("a"), new PlacementAction.EvictRemote("b"));
  }

  @Test
  void anAdmissionElsewhereDoesNotTakeItFromALostWorker() {
    lost("b", 1, admitted(60));
    has("a", admitted(1));

    assertThat(plan(runningIn("b")))
        .isEqualTo(
            new PlacementPlan(
                List.of(new PlacementAction.Withdraw("a")),
                Optional.of(NOW.plus(Duration.ofMinutes(14)))));
  }

  @Test
  void whatIsSentBackThereBeforeItRanHereJustWaits() {
    has("b", evicted(1));
    has("a", admitted(1));

    assertThat(plan(asked("a", "b")).placementActions())
        .containsExactly(new PlacementAction.Withdraw("b"), new PlacementAction.Run("a"));
  }

  // 5: other than here

  @Test
  void differencesAreMended() {
    has("a", differing(Difference.PATCHABLE));
    has("b", differing(Difference.OTHER));

    assertThat(plan(waiting()).placementActions())
        .containsExactly(new PlacementAction.SyncSpec("a"), new PlacementAction.Withdraw("b"));
  }

  // 6: not seen any more

  @Test
  void aLostWorkerKeepsWhatRunsThereUntilTheTimeOut() {
    lost("b", 14, admitted(60));
    assertThat(plan(runningIn("b")))
        .isEqualTo(new PlacementPlan(List.of(), Optional.of(NOW.plus(Duration.ofMinutes(1)))));

    lost("b", 15, admitted(60));
    assertThat(plan(runningIn("b")))
        .isEqualTo(PlacementPlan.of(new PlacementAction.Retry("Worker cluster \"b\" is lost")));
  }

  @Test
  void whatIsGoneThereIsOfferedAnewAtOnce() {
    assertThat(plan(runningIn("b")))
        .isEqualTo(
            PlacementPlan.of(
                new PlacementAction.Retry("Worker cluster \"b\" has the workload no more")));
    workerStates.remove("b");
    assertThat(plan(runningIn("b")))
        .isEqualTo(
            PlacementPlan.of(
                new PlacementAction.Retry("Worker cluster \"b\" has the workload no more")));
  }

  /** A look at once would be followed by the next one, without end. */
  @Test
  void whereLostWorkersKeepNothingNobodyLooksAllTheTime() {
    WorkloadPlacement impatient = new WorkloadPlacement(new Dispatcher.AllAtOnce(), Duration.ZERO);
    Optional<Instant> later = Optional.of(NOW.plus(WorkloadPlacement.SHORTEST_PAUSE));
    has("b", admitted(2));
    assertThat(impatient.decide(runningIn("b"), List.of("b", "a"), workerStates, NOW).requeueAt())
        .isEqualTo(later);
    assertThat(
            impatient
                .decide(
                    local(true, false, Check.PENDING, "a"), List.of("b", "a"), workerStates, NOW)
                .requeueAt())
        .isEqualTo(later);
    lost("b", 0, admitted(2));
    assertThat(
            impatient
                .decide(local(false, false, Check.PENDING), List.of(), workerStates, NOW)
                .requeueAt())
        .isEqualTo(later);
    assertThat(
            impatient
                .decide(runningIn("b"), List.of("b", "a"), workerStates, NOW)
                .placementActions())
        .containsExactly(new PlacementAction.Retry("Worker cluster \"b\" is lost"));
  }

  @Test
  void nothingIsStartedElsewhereWhileTheLostWorkerMayRunIt() {
    lost("b", 1, admitted(60));

    assertThat(plan(runningIn("b")).placementActions()).isEmpty();
  }

  // 7: admitted there

  @Test
  void theFirstToAdmitRunsItAndTheOthersLoseTheirCopies() {
    has("a", admitted(1));
    has("b", admitted(2));

    assertThat(plan(asked("a", "b")))
        .isEqualTo(
            new PlacementPlan(
                List.of(new PlacementAction.Withdraw("a"), new PlacementAction.Run("b")),
                Optional.of(NOW.plus(LOST))));
  }

  /** Its name may not be written; it admitted the copy while that was being withdrawn. */
  @Test
  void whoeverIsNotNominatedAnyMoreDoesNotRunIt() {
    has("a", fresh());
    has("b", admitted(2));
    assertThat(plan(new Dispatcher.External(), asked("a")).placementActions())
        .containsExactly(new PlacementAction.Withdraw("b"));

    has("a", admitted(1));
    assertThat(plan(new Dispatcher.External(), asked("a")).placementActions())
        .containsExactly(new PlacementAction.Withdraw("b"), new PlacementAction.Run("a"));
  }

  /** It admitted the copy while that was being withdrawn; its nomination stands as written. */
  @Test
  void whoeverIsNotConfiguredAnyMoreDoesNotRunIt() {
    has("a", fresh());
    has("elsewhere", admitted(2));
    assertThat(plan(new Dispatcher.External(), asked("elsewhere", "a")).placementActions())
        .containsExactly(new PlacementAction.Withdraw("elsewhere"));
    assertThat(plan(asked("elsewhere", "a")).placementActions())
        .contains(new PlacementAction.Withdraw("elsewhere"))
        .doesNotContain(new PlacementAction.Run("elsewhere"));

    has("a", admitted(1));
    assertThat(plan(new Dispatcher.External(), asked("elsewhere", "a")).placementActions())
        .containsExactly(new PlacementAction.Withdraw("elsewhere"), new PlacementAction.Run("a"));
  }

  /** As a worker that was lost when it was sent back, and still runs it. */
  @Test
  void whoeverAdmittedItBeforeItIsNominatedRunsItThen() {
    has("b", admitted(2));
    assertThat(plan(waiting()).placementActions())
        .containsExactly(
            new PlacementAction.Nominate(List.of("a", "b")), new PlacementAction.Offer("a"));

    assertThat(plan(asked("a", "b")).placementActions())
        .containsExactly(new PlacementAction.Run("b"));
  }

  @Test
  void whatIsBoundToAWorkerIsRunByNoOther() {
    has("a", admitted(2));
    has("b", fresh());
    assertThat(plan(local(true, false, Check.PENDING, "b")).placementActions())
        .containsExactly(new PlacementAction.Withdraw("a"));
  }

  @Test
  void whereItRunsItStays() {
    has("a", admitted(1));
    has("b", admitted(2));

    assertThat(plan(runningIn("a")).placementActions())
        .containsExactly(new PlacementAction.Withdraw("b"), new PlacementAction.Run("a"));
  }

  @Test
  void whatIsSentBackHereIsStoppedThere() {
    has("b", admitted(2));

    assertThat(plan(local(true, true, Check.READY, "b")).placementActions())
        .containsExactly(new PlacementAction.EvictRemote("b"));
  }

  // 8: offered

  @Test
  void itIsOfferedToAllThatAreNominated() {
    assertThat(plan(waiting()))
        .isEqualTo(
            new PlacementPlan(
                List.of(
                    new PlacementAction.Nominate(List.of("a", "b")),
                    new PlacementAction.Offer("a"),
                    new PlacementAction.Offer("b")),
                Optional.empty()));
  }

  private static ManagerState beforeApproval(boolean evicted, Check check, String... cluster) {
    return new ManagerState(
        false,
        true,
        evicted,
        check,
        false,
        new ManagerState.Sendable.Yes(),
        cluster.length == 0 ? Optional.empty() : Optional.of(cluster[0]),
        cluster.length == 0 ? List.of("a", "b") : List.of(),
        Optional.empty());
  }

  /** Whoever nominates from outside may do so before; a check may also be new to the queue. */
  @Test
  void nothingIsOfferedNorRunBeforeTheOtherChecksAreReady() {
    for (Dispatcher each : List.of(new Dispatcher.AllAtOnce(), new Dispatcher.External())) {
      workerStates.put("a", EMPTY);
      has("b", blockedByGate());
      assertThat(plan(each, beforeApproval(false, Check.PENDING)))
          .isEqualTo(PlacementPlan.nothing());
      has("a", admitted(1));
      assertThat(plan(each, beforeApproval(false, Check.PENDING)))
          .isEqualTo(PlacementPlan.nothing());
    }
  }

  @Test
  void aCheckThatIsNewToTheQueueStopsNothingThatRuns() {
    has("a", admitted(1));

    assertThat(plan(beforeApproval(false, Check.READY, "a")).placementActions())
        .containsExactly(new PlacementAction.Run("a"));
    assertThat(plan(beforeApproval(true, Check.PENDING)).placementActions())
        .containsExactly(new PlacementAction.EvictRemote("a"));
  }

  @Test
  void copiesOfThoseThatAreNotNominatedAreWithdrawn() {
    has("elsewhere", fresh());
    has("a", fresh());
    lost("b", 1, fresh());

    assertThat(plan(waiting()).placementActions())
        .containsExactly(
            new PlacementAction.Nominate(List.of("a")), new PlacementAction.Withdraw("elsewhere"));
  }

  /** It would write it again, and so on; it may also be that a limit ends later. */
  @Test
  void whatIsNominatedFromOutsideStandsAsItIsWritten() {
    assertThat(plan(new Dispatcher.External(), asked("elsewhere", "b")).placementActions())
        .containsExactly(new PlacementAction.Offer("b"));
    has("a", fresh());
    assertThat(plan(new Dispatcher.External(), asked("elsewhere")).placementActions())
        .containsExactly(new PlacementAction.Withdraw("a"));
    assertThat(plan(asked("elsewhere", "a")).placementActions())
        .contains(new PlacementAction.Nominate(List.of("a", "b")));
  }

  @Test
  void nothingHappensWhileTheQuotaIsBeingTakenBack() {
    has("a", admitted(1));

    assertThat(plan(local(true, false, Check.RETRY, "a"))).isEqualTo(PlacementPlan.nothing());
  }

  @Test
  void nobodyNewIsAskedWhileItIsSentBackAndItsJobTellsOfNoPodsAnyMore() {
    lost("a", 20, admitted(30));
    has("b", fresh());

    assertThat(plan(local(true, true, Check.PENDING)).placementActions())
        .containsExactly(new PlacementAction.Withdraw("b"), new PlacementAction.ClearPodStatus());
  }

  /** The promise of docs/multikueue.md: nothing runs twice. */
  @Test
  void whatWasSentBackWhileALostWorkerRanItWaitsForTheTimeOut() {
    sentBackFrom("a", 1);
    has("b", admitted(1));
    PlacementPlan waits =
        new PlacementPlan(
            List.of(new PlacementAction.Withdraw("b")),
            Optional.of(NOW.plus(Duration.ofMinutes(14))));

    assertThat(plan(local(true, true, Check.PENDING))).isEqualTo(waits);
    assertThat(plan(waiting())).isEqualTo(waits);
    assertThat(planHere(waiting())).isEqualTo(waits);
    has("b", evicted(1));
    assertThat(plan(local(true, true, Check.PENDING))).isEqualTo(waits);
  }

  @Test
  void afterTheTimeOutItTellsOfNoPodsAndIsOfferedToOthers() {
    sentBackFrom("a", 15);

    assertThat(plan(local(true, true, Check.PENDING)).placementActions())
        .containsExactly(new PlacementAction.ClearPodStatus());
    assertThat(plan(waiting()).placementActions())
        .containsExactly(
            new PlacementAction.Nominate(List.of("b")), new PlacementAction.Offer("b"));
    assertThat(planHere(waiting()).placementActions())
        .containsExactly(new PlacementAction.RunHere("here"));
  }

  /** A process that was just started knows only that it ran there. */
  @Test
  void aWorkerThatWasNeverSeenMayRunIt() {
    Instant sentBackAt = NOW.minusSeconds(60);
    workerStates.put(
        "a", new WorkerState(false, Optional.empty(), Optional.empty(), Optional.of(sentBackAt)));
    has("b", admitted(1));

    PlacementPlan waits = new PlacementPlan(List.of(), Optional.of(sentBackAt.plus(LOST)));
    assertThat(plan(waiting())).isEqualTo(waits);
    assertThat(planHere(waiting())).isEqualTo(waits);
  }

  /** The worker may be gone for good: a restart of the manager doesn't begin the wait anew. */
  @Test
  void aWorkerThatWasNeverSeenIsAwaitedOnceForEachTimeThatItIsSentBack() {
    workerStates.put(
        "a",
        new WorkerState(false, Optional.of(NOW), Optional.empty(), Optional.of(NOW.minus(LOST))));
    has("b", admitted(1));

    assertThat(plan(asked("b")).placementActions()).containsExactly(new PlacementAction.Run("b"));
  }

  @Test
  void onlyACopyThatStartedAndDidNotEndMayRun() {
    assertThat(admitted(1).mayRun()).isTrue();
    assertThat(evicted(1).mayRun()).isTrue();
    assertThat(fresh().mayRun()).isFalse();
    assertThat(finished("Succeeded").mayRun()).isFalse();
  }

  private void sentBackFrom(String cluster, int minutesAgo) {
    workerStates.put(
        cluster,
        new WorkerState(
            false,
            Optional.of(NOW.minus(Duration.ofMinutes(minutesAgo))),
            Optional.of(admitted(60)),
            Optional.of(NOW.minus(Duration.ofMinutes(30)))));
  }

  // the manager as its own worker

  private PlacementPlan planHere(ManagerState managerState) {
    return PLACEMENT.decideHere(managerState, "here", workerStates, NOW);
  }

  @Test
  void whatHoldsQuotaOfTheManagerRunsHereAndNowhereElse() {
    assertThat(planHere(waiting()))
        .isEqualTo(PlacementPlan.of(new PlacementAction.RunHere("here")));

    has("a", fresh());
    assertThat(planHere(waiting()).placementActions())
        .containsExactly(new PlacementAction.Withdraw("a"), new PlacementAction.RunHere("here"));
  }

  @Test
  void whatRunsHereIsLeftAlone() {
    assertThat(planHere(local(true, false, Check.READY))).isEqualTo(PlacementPlan.nothing());
    assertThat(planHere(local(true, true, Check.READY))).isEqualTo(PlacementPlan.nothing());
    assertThat(planHere(local(true, true, Check.PENDING))).isEqualTo(PlacementPlan.nothing());
  }

  @Test
  void whatHoldsNoQuotaDoesNotRunHere() {
    assertThat(planHere(local(false, false, Check.PENDING))).isEqualTo(PlacementPlan.nothing());
  }
}
