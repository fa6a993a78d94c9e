package dev.sluice.checks.multikueue.placement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.dispatch.Dispatcher;
import dev.sluice.checks.multikueue.placement.Local.Check;
import dev.sluice.checks.multikueue.placement.Remote.Copy;
import dev.sluice.checks.multikueue.placement.Remote.Difference;
import dev.sluice.checks.multikueue.placement.Remote.Ending;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** One Workload between a manager and the workers a and b, as both stand. */
class PlacementTest {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final Duration LOST = Duration.ofMinutes(15);
  private static final Placement PLACEMENT = new Placement(new Dispatcher.AllAtOnce(), LOST);

  private final Map<String, Remote> remotes = new TreeMap<>();

  PlacementTest() {
    remotes.put("a", EMPTY);
    remotes.put("b", EMPTY);
  }

  private static final Remote EMPTY = new Remote(true, Optional.empty(), Optional.empty());

  private static Local local(boolean reserving, boolean evicted, Check check, String... cluster) {
    return new Local(
        false,
        reserving,
        evicted,
        check,
        true,
        new Local.Sendable.Yes(),
        cluster.length == 0 ? Optional.empty() : Optional.of(cluster[0]),
        List.of(),
        Optional.empty());
  }

  private static Local waiting() {
    return local(true, false, Check.PENDING);
  }

  private static Local runningIn(String cluster) {
    return local(true, false, Check.READY, cluster);
  }

  private static Copy fresh() {
    return new Copy(Optional.empty(), Optional.empty(), Optional.empty(), Difference.NONE);
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
    remotes.put(cluster, new Remote(true, Optional.empty(), Optional.of(copy)));
  }

  private void lost(String cluster, int minutesAgo, Copy lastSeen) {
    remotes.put(
        cluster,
        new Remote(
            false, Optional.of(NOW.minus(Duration.ofMinutes(minutesAgo))), Optional.of(lastSeen)));
  }

  private Plan plan(Local local) {
    return PLACEMENT.decide(local, List.of("b", "a"), remotes, NOW);
  }

  // 1: what can't be sent

  @Test
  void aJobThatCannotBeSentIsRejectedOnce() {
    Local job =
        new Local(
            false,
            false,
            false,
            Check.PENDING,
            true,
            new Local.Sendable.No("not managed"),
            Optional.empty(),
            List.of(),
            Optional.empty());
    Local rejected =
        new Local(
            false,
            true,
            false,
            Check.REJECTED,
            true,
            job.job(),
            Optional.empty(),
            List.of(),
            Optional.empty());

    assertThat(plan(job)).isEqualTo(Plan.of(new Action.Reject("not managed")));
    assertThat(plan(rejected)).isEqualTo(Plan.nothing());
  }

  // 2: what is over here ends there

  @Test
  void withoutQuotaHereNothingStaysThere() {
    has("a", admitted(1));
    has("b", fresh());

    assertThat(plan(local(false, false, Check.PENDING)))
        .isEqualTo(
            new Plan(
                List.of(new Action.Withdraw("a"), new Action.Withdraw("b")), Optional.empty()));
  }

  @Test
  void whatIsInALostWorkerIsWithdrawnLater() {
    lost("a", 1, admitted(1));

    assertThat(plan(local(false, false, Check.PENDING)))
        .isEqualTo(new Plan(List.of(), Optional.of(NOW.plus(LOST))));
  }

  @Test
  void whatIsOverIsWithdrawnWhateverElseIsTrue() {
    has("a", finished("Succeeded"));
    Local over =
        new Local(
            true,
            true,
            false,
            Check.READY,
            true,
            new Local.Sendable.No("gone"),
            Optional.of("a"),
            List.of(),
            Optional.empty());

    assertThat(plan(over).actions()).containsExactly(new Action.Withdraw("a"));
  }

  // 3: the end there is the end here

  @Test
  void theEndThereIsTheEndHere() {
    has("b", finished("Succeeded"));

    assertThat(plan(runningIn("b")))
        .isEqualTo(Plan.of(new Action.Finish("b", "Succeeded", "the end")));
  }

  @Test
  void outOfSyncIsTriedAgainIfItRan() {
    has("b", finished("OutOfSync"));

    assertThat(plan(runningIn("b")).actions())
        .containsExactly(new Action.Retry("Worker cluster \"b\" is out of step: the end"));
    assertThat(plan(waiting())).isEqualTo(Plan.nothing());
  }

  @Test
  void theLastWordOfALostWorkerDoesNotCount() {
    lost("b", 1, finished("Succeeded"));

    assertThat(plan(runningIn("b")).actions()).isEmpty();
  }

  // 4: sent back there

  @Test
  void whatIsSentBackThereIsOfferedAnew() {
    has("b", evicted(1));

    assertThat(plan(runningIn("b")))
        .isEqualTo(Plan.of(new Action.Retry("Worker cluster \"b\" sent it back")));
  }

  @Test
  void whatIsSentBackHereAndThereIsMirrored() {
    has("b", evicted(1));
    has("a", evicted(2));

    assertThat(plan(local(true, true, Check.READY, "b")))
        .isEqualTo(Plan.of(new Action.Mirror("b")));
    assertThat(plan(local(true, true, Check.PENDING))).isEqualTo(Plan.of(new Action.Mirror("a")));
  }

  @Test
  void whatAnotherWorkerStoppedDoesNotSendItBackFromWhereItRuns() {
    has("a", evicted(1));
    has("b", admitted(1));

    assertThat(plan(runningIn("b")).actions())
        .containsExactly(new Action.Withdraw("a"), new Action.Run("b"));
    assertThat(plan(local(true, true, Check.READY, "b")).actions())
        .containsExactly(new Action.Withdraw("a"), new Action.StopThere("b"));
  }

  @Test
  void anAdmissionElsewhereDoesNotTakeItFromALostWorker() {
    lost("b", 1, admitted(60));
    has("a", admitted(1));

    assertThat(plan(runningIn("b")))
        .isEqualTo(
            new Plan(
                List.of(new Action.Withdraw("a")), Optional.of(NOW.plus(Duration.ofMinutes(14)))));
  }

  @Test
  void whatIsSentBackThereBeforeItRanHereJustWaits() {
    has("b", evicted(1));
    has("a", admitted(1));

    assertThat(plan(waiting()).actions())
        .containsExactly(new Action.Withdraw("b"), new Action.Run("a"));
  }

  // 5: other than here

  @Test
  void differencesAreMended() {
    has("a", differing(Difference.PATCHABLE));
    has("b", differing(Difference.OTHER));

    assertThat(plan(waiting()).actions())
        .containsExactly(new Action.Align("a"), new Action.Withdraw("b"));
  }

  // 6: not seen any more

  @Test
  void aLostWorkerKeepsWhatRunsThereUntilTheTimeOut() {
    lost("b", 14, admitted(60));
    assertThat(plan(runningIn("b")))
        .isEqualTo(new Plan(List.of(), Optional.of(NOW.plus(Duration.ofMinutes(1)))));

    lost("b", 15, admitted(60));
    assertThat(plan(runningIn("b")))
        .isEqualTo(Plan.of(new Action.Retry("Worker cluster \"b\" is lost")));
  }

  @Test
  void whatIsGoneThereIsOfferedAnewAtOnce() {
    assertThat(plan(runningIn("b")))
        .isEqualTo(Plan.of(new Action.Retry("Worker cluster \"b\" has it no more")));
    remotes.remove("b");
    assertThat(plan(runningIn("b")))
        .isEqualTo(Plan.of(new Action.Retry("Worker cluster \"b\" has it no more")));
  }

  @Test
  void nothingIsStartedElsewhereWhileTheLostWorkerMayRunIt() {
    lost("b", 1, admitted(60));

    assertThat(plan(runningIn("b")).actions()).isEmpty();
  }

  // 7: admitted there

  @Test
  void theFirstToAdmitRunsItAndTheOthersLoseTheirCopies() {
    has("a", admitted(1));
    has("b", admitted(2));

    assertThat(plan(waiting()))
        .isEqualTo(
            new Plan(
                List.of(new Action.Withdraw("a"), new Action.Run("b")),
                Optional.of(NOW.plus(LOST))));
  }

  @Test
  void whereItRunsItStays() {
    has("a", admitted(1));
    has("b", admitted(2));

    assertThat(plan(runningIn("a")).actions())
        .containsExactly(new Action.Withdraw("b"), new Action.Run("a"));
  }

  @Test
  void whatIsSentBackHereIsStoppedThere() {
    has("b", admitted(2));

    assertThat(plan(local(true, true, Check.READY, "b")).actions())
        .containsExactly(new Action.StopThere("b"));
  }

  // 8: offered

  @Test
  void itIsOfferedToAllThatAreNominated() {
    assertThat(plan(waiting()))
        .isEqualTo(
            new Plan(
                List.of(
                    new Action.Nominate(List.of("a", "b")),
                    new Action.Offer("a"),
                    new Action.Offer("b")),
                Optional.empty()));
  }

  @Test
  void copiesOfThoseThatAreNotNominatedAreWithdrawn() {
    has("elsewhere", fresh());
    has("a", fresh());
    lost("b", 1, fresh());

    assertThat(plan(waiting()).actions())
        .containsExactly(new Action.Nominate(List.of("a")), new Action.Withdraw("elsewhere"));
  }

  @Test
  void nothingHappensWhileTheQuotaIsBeingTakenBack() {
    has("a", admitted(1));

    assertThat(plan(local(true, false, Check.RETRY, "a"))).isEqualTo(Plan.nothing());
  }

  @Test
  void nobodyNewIsAskedWhileItIsSentBackAndItsJobTellsOfNoPodsAnyMore() {
    lost("a", 20, admitted(30));
    has("b", fresh());

    assertThat(plan(local(true, true, Check.PENDING)).actions())
        .containsExactly(new Action.Withdraw("b"), new Action.Settle());
  }

  // the manager as its own worker

  private Plan planHere(Local local) {
    return PLACEMENT.decideHere(local, "here", remotes, NOW);
  }

  @Test
  void whatHoldsQuotaOfTheManagerRunsHereAndNowhereElse() {
    assertThat(planHere(waiting())).isEqualTo(Plan.of(new Action.RunHere("here")));

    has("a", fresh());
    assertThat(planHere(waiting()).actions())
        .containsExactly(new Action.Withdraw("a"), new Action.RunHere("here"));
  }

  @Test
  void whatRunsHereIsLeftAlone() {
    assertThat(planHere(local(true, false, Check.READY))).isEqualTo(Plan.nothing());
    assertThat(planHere(local(true, true, Check.READY))).isEqualTo(Plan.nothing());
    assertThat(planHere(local(true, true, Check.PENDING))).isEqualTo(Plan.nothing());
  }

  @Test
  void whatHoldsNoQuotaDoesNotRunHere() {
    assertThat(planHere(local(false, false, Check.PENDING))).isEqualTo(Plan.nothing());
  }
}
