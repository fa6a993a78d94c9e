package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.forecast.simulate.Feasibility;
import dev.sluice.reference.RandomWorld.Pods;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;

/**
 * Random worlds in which it is asked what would become of a Workload, which is then submitted
 * (docs/simulate.md): the engine does what was answered.
 */
class SimulationAnswersTest {

  /** How many steps of each kind of world are played unless a property says otherwise. */
  private static final int STEPS = 300;

  @Test
  void withoutPreemption() {
    Map<Feasibility, Integer> answers =
        play("answers", seed -> new RandomWorld(seed, true, false), dice -> EngineOptions.DEFAULT);

    assertThat(answers).containsOnlyKeys(Feasibility.NOW, Feasibility.LATER, Feasibility.NEVER);
  }

  @Test
  void withFewerPods() {
    play(
        "answers with fewer pods",
        seed -> new RandomWorld(seed, true, false, Pods.FEWER),
        dice -> EngineOptions.DEFAULT);
  }

  @Test
  void withPreemption() {
    Map<Feasibility, Integer> answers =
        play(
            "answers with preemption",
            seed -> new RandomWorld(seed, true, true, Pods.ALL),
            dice -> EngineOptions.DEFAULT);

    assertThat(answers).containsOnlyKeys(Feasibility.values());
  }

  @Test
  void byPolicies() {
    play(
        "answers by policies",
        seed -> RandomWorld.withPolicies(seed, true),
        dice -> EngineOptions.DEFAULT);
  }

  @Test
  void withFairSharing() {
    play(
        "answers with fair sharing",
        seed -> RandomWorld.weighted(seed, Pods.ALL),
        dice -> new EngineOptions(TopologyEnginesTest.fair(dice), false));
  }

  @Test
  void withPlaces() {
    play(
        "answers with places",
        seed -> RandomWorld.placed(seed, true, Pods.ALL, false),
        dice ->
            new EngineOptions(
                Optional.empty(),
                false,
                Optional.empty(),
                new OrderingRules(true, false, dice.chance(80)),
                TopologyEnginesTest.topology(dice)));
  }

  @Test
  void withReservations() {
    Map<Feasibility, Integer> answers =
        play("answers with reservations", (seed, length) -> HeldWorld.steps(seed, length, false));

    assertThat(answers).containsOnlyKeys(Feasibility.NOW, Feasibility.LATER, Feasibility.NEVER);
  }

  @Test
  void withReservationsAndPreemption() {
    play(
        "answers with reservations and preemption",
        (seed, length) -> HeldWorld.steps(seed, length, true));
  }

  @Test
  void withReservationsAndWindows() {
    play(
        "answers with reservations and windows",
        (seed, length) ->
            ReservedWorld.steps(seed, new RandomWorld(seed, true, true, Pods.ALL).steps(length)));
  }

  @Test
  void withBackfill() {
    Map<Feasibility, Integer> answers =
        play(
            "answers with back-fill",
            (seed, length) -> BackfilledWorld.crowded(seed, length, false, false));

    assertThat(answers).containsOnlyKeys(Feasibility.NOW, Feasibility.LATER, Feasibility.NEVER);
  }

  @Test
  void withBackfillAndPreemption() {
    play(
        "answers with back-fill and preemption",
        (seed, length) -> BackfilledWorld.crowded(seed, length, true, false));
  }

  @Test
  void withBackfillAndReservations() {
    play(
        "answers with back-fill and reservations",
        (seed, length) ->
            ReservedWorld.steps(seed, BackfilledWorld.crowded(seed, length, false, false)));
  }

  private static Map<Feasibility, Integer> play(
      String what, LongFunction<RandomWorld> make, Function<Dice, EngineOptions> options) {
    return play(what, (seed, length) -> make.apply(seed).steps(length), options);
  }

  private static Map<Feasibility, Integer> play(
      String what, BiFunction<Long, Integer, List<Step>> make) {
    return play(what, make, dice -> EngineOptions.DEFAULT);
  }

  private static Map<Feasibility, Integer> play(
      String what,
      BiFunction<Long, Integer, List<Step>> make,
      Function<Dice, EngineOptions> options) {
    Map<Feasibility, Integer> answers = new ConcurrentHashMap<>();
    Worlds.play(
        what,
        STEPS,
        make,
        (seed, steps) -> {
          AskedWorld world = new AskedWorld(options.apply(new Dice(seed)), seed);
          world.play(steps);
          world.answers().forEach((answer, times) -> answers.merge(answer, times, Integer::sum));
        });
    System.out.printf("property: %s%n", answers);
    return answers;
  }
}
