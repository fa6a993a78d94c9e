package dev.sluice.checks.multikueue.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.MultiKueue;
import dev.sluice.checks.multikueue.dispatch.Dispatcher.DispatchContext;
import dev.sluice.checks.multikueue.dispatch.Dispatcher.DispatchResult;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DispatcherTest {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final List<String> CONFIG = List.of("d", "a", "c", "b");

  private static DispatchContext situation(Set<String> connected, List<String> nominated) {
    return new DispatchContext(CONFIG, connected, nominated, Optional.empty(), true, NOW);
  }

  private static DispatchContext later(
      DispatchContext before, DispatchResult said, Duration after) {
    return new DispatchContext(
        before.configured(),
        before.connected(),
        said.clusters(),
        said.newRound() ? Optional.of(before.now()) : before.lastRound(),
        true,
        before.now().plus(after));
  }

  @Test
  void allAtOnceAsksAllConnectedOnesByName() {
    DispatchResult said =
        new Dispatcher.AllAtOnce().nominate(situation(Set.of("d", "a", "b"), List.of()));

    assertThat(said).isEqualTo(new DispatchResult(List.of("a", "b", "d"), true, Optional.empty()));
  }

  @Test
  void allAtOnceAddsWhoConnectsAndKeepsWhoIsLost() {
    DispatchResult said =
        new Dispatcher.AllAtOnce().nominate(situation(Set.of("a", "c"), List.of("a", "b")));

    assertThat(said.clusters()).containsExactly("a", "b", "c");
  }

  @Test
  void clustersThatLeftTheConfigAreNotNominatedAnyMore() {
    for (Dispatcher each :
        List.of(
            new Dispatcher.AllAtOnce(),
            new Dispatcher.Incremental(1, true),
            new Dispatcher.BestFit(),
            new Dispatcher.External())) {
      assertThat(each.nominate(situation(Set.of("gone"), List.of("gone", "a"))).clusters())
          .containsExactly("a");
    }
  }

  @Test
  void nobodyIsAskedBeforeTheOtherChecksAreReady() {
    DispatchContext waiting =
        new DispatchContext(CONFIG, Set.of("a", "b"), List.of(), Optional.empty(), false, NOW);

    assertThat(new Dispatcher.AllAtOnce().nominate(waiting).clusters()).isEmpty();
    assertThat(new Dispatcher.Incremental(2, true).nominate(waiting).clusters()).isEmpty();
  }

  @Test
  void incrementalAsksStepByStepInTheOrderOfTheConfig() {
    Dispatcher dispatcher = new Dispatcher.Incremental(3, true);
    DispatchContext first = situation(Set.of("a", "b", "c", "d"), List.of());

    DispatchResult round1 = dispatcher.nominate(first);
    assertThat(round1.clusters()).containsExactly("d", "a", "c");
    assertThat(round1.requeueAt()).contains(NOW.plus(Duration.ofMinutes(5)));

    DispatchContext early = later(first, round1, Duration.ofMinutes(5).minusNanos(1));
    assertThat(dispatcher.nominate(early))
        .isEqualTo(new DispatchResult(List.of("d", "a", "c"), false, round1.requeueAt()));

    DispatchContext due = later(first, round1, Duration.ofMinutes(5));
    assertThat(dispatcher.nominate(due))
        .isEqualTo(new DispatchResult(List.of("d", "a", "c", "b"), true, Optional.empty()));
  }

  @Test
  void incrementalGoesByNameWhereTheOrderOfTheConfigDoesNotCount() {
    // without the gate MultiKueueIncrementalDispatcherRespectConfigOrder
    assertThat(
            new Dispatcher.Incremental(2, false)
                .nominate(situation(Set.of("a", "b", "c", "d"), List.of()))
                .clusters())
        .containsExactly("a", "b");
  }

  @Test
  void incrementalSpendsNoRoundOnClustersThatAreLost() {
    DispatchResult said =
        new Dispatcher.Incremental(2, true).nominate(situation(Set.of("c", "b"), List.of()));

    assertThat(said.clusters()).containsExactly("c", "b");
  }

  @Test
  void incrementalAsksAtOnceWhenSomebodyConnectsAtLast() {
    Dispatcher dispatcher = new Dispatcher.Incremental(1, true);
    assertThat(dispatcher.nominate(situation(Set.of(), List.of())))
        .isEqualTo(new DispatchResult(List.of(), false, Optional.empty()));

    assertThat(dispatcher.nominate(situation(Set.of("b"), List.of())).clusters())
        .containsExactly("b");
  }

  @Test
  void anExternalDispatcherIsNeverSecondGuessed() {
    assertThat(new Dispatcher.External().nominate(situation(Set.of("a", "b"), List.of("b"))))
        .isEqualTo(new DispatchResult(List.of("b"), false, Optional.empty()));
  }

  @Test
  void theConfigurationNamesTheDispatcher() {
    assertThat(DispatcherFactory.of(named(MultiKueue.ALL_AT_ONCE, Optional.empty()), true))
        .isEqualTo(new Dispatcher.AllAtOnce());
    assertThat(DispatcherFactory.of(named(MultiKueue.INCREMENTAL, Optional.empty()), false))
        .isEqualTo(new Dispatcher.Incremental(3, false));
    assertThat(DispatcherFactory.of(named(MultiKueue.INCREMENTAL, Optional.of(1)), true))
        .isEqualTo(new Dispatcher.Incremental(1, true));
    assertThat(DispatcherFactory.of(named(MultiKueue.BEST_FIT, Optional.empty()), true))
        .isEqualTo(new Dispatcher.BestFit());
    assertThat(DispatcherFactory.of(named("example.com/mine", Optional.empty()), true))
        .isEqualTo(new Dispatcher.External());
  }

  private static MultiKueue named(String dispatcher, Optional<Integer> step) {
    MultiKueue usual = MultiKueue.DEFAULT;
    return new MultiKueue(
        usual.gcInterval(),
        usual.origin(),
        usual.workerLostTimeout(),
        dispatcher,
        step,
        List.of(),
        List.of());
  }

  private static DispatchContext fitting(
      Set<String> connected, List<String> nominated, Set<String> fitting, int secondsAgo) {
    return new DispatchContext(
        CONFIG,
        connected,
        nominated,
        nominated.isEmpty() ? Optional.empty() : Optional.of(NOW.minusSeconds(secondsAgo)),
        true,
        fitting,
        NOW);
  }

  @Test
  void bestFitAsksTheMostPreferredOneThatHasRoom() {
    DispatchResult said =
        new Dispatcher.BestFit()
            .nominate(fitting(Set.of("a", "b", "c", "d"), List.of(), Set.of("b", "c"), 0));

    assertThat(said)
        .isEqualTo(new DispatchResult(List.of("c"), true, Optional.of(NOW.plusSeconds(5))));
  }

  @Test
  void bestFitDoesNotCountOnWhoIsLost() {
    DispatchResult said =
        new Dispatcher.BestFit()
            .nominate(fitting(Set.of("a", "b"), List.of(), Set.of("c", "b"), 0));

    assertThat(said.clusters()).containsExactly("b");
  }

  @Test
  void bestFitAsksAllWhenNobodyHasRoom() {
    DispatchResult said =
        new Dispatcher.BestFit().nominate(fitting(Set.of("a", "b"), List.of(), Set.of(), 0));

    assertThat(said).isEqualTo(new DispatchResult(List.of("a", "b"), true, Optional.empty()));
  }

  @Test
  void bestFitWaitsForTheChosenOneAndThenAsksAll() {
    Dispatcher dispatcher = new Dispatcher.BestFit();
    Set<String> connected = Set.of("a", "c");

    assertThat(dispatcher.nominate(fitting(connected, List.of("c"), Set.of("a"), 4)))
        .isEqualTo(new DispatchResult(List.of("c"), false, Optional.of(NOW.plusSeconds(1))));
    assertThat(dispatcher.nominate(fitting(connected, List.of("c"), Set.of("a"), 5)).clusters())
        .containsExactly("a", "c");
  }

  @Test
  void bestFitAsksAllWhenTheChosenOneIsLost() {
    assertThat(
            new Dispatcher.BestFit()
                .nominate(fitting(Set.of("a"), List.of("c"), Set.of(), 1))
                .clusters())
        .containsExactly("a", "c");
  }

  @Test
  void bestFitAsksNobodyBeforeTheOtherChecks() {
    assertThat(
            new Dispatcher.BestFit()
                .nominate(
                    new DispatchContext(
                        CONFIG, Set.of("a"), List.of(), Optional.empty(), false, Set.of("a"), NOW))
                .clusters())
        .isEmpty();
  }
}
