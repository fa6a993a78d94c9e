package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.reference.RandomWorld.Pods;
import dev.sluice.reference.ReferenceEngine.Waking;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Random worlds in which nobody preempts, played to the engine and to the reference. */
class EngineAgainstReferenceTest {

  @Test
  void everyCycleAdmitsTheSameInTheSameOrder() {
    play(
        "admission",
        15_000,
        (seed, length) -> new RandomWorld(seed, true, false).steps(length),
        () -> new Rerun(Rerun.reference(Waking.HELPED), true));
  }

  @Test
  void aQueueOfItsOwnAdmitsTheSameInTheSameOrderAsIfEverythingWereWoken() {
    play(
        "a queue of its own",
        3_000,
        (seed, length) -> new RandomWorld(seed, false, false).steps(length),
        () -> new Rerun(Rerun.reference(Waking.ALL), false));
  }

  @Test
  void whoMayStartWithFewerPodsGetsAsManyInTheSameOrder() {
    play(
        "admission with fewer pods",
        6_000,
        (seed, length) -> new RandomWorld(seed, true, false, Pods.FEWER).steps(length),
        () -> new Rerun(Rerun.reference(Waking.HELPED), true));
  }

  @Test
  void slicesOfElasticJobsShareTheSame() {
    play(
        "slices",
        6_000,
        (seed, length) -> new RandomWorld(seed, true, false, Pods.SLICES).steps(length),
        () -> new Rerun(Rerun.reference(Waking.HELPED), true));
  }

  @Test
  void whileNotAllPodsAreReadyTheSameAreTurnedAway() {
    EngineOptions rules = new EngineOptions(Optional.empty(), true);
    play(
        "admission one at a time",
        3_000,
        (seed, length) -> new RandomWorld(seed, true, false, Pods.GET_READY).steps(length),
        () ->
            new Rerun(
                rules,
                new ReferenceEngine(Duration.ofSeconds(10), Waking.HELPED, 32, true, rules),
                true));
  }

  @Test
  void budgetsHoldTheSame() {
    play(
        "budgets",
        8_000,
        (seed, length) ->
            BudgetedWorld.steps(seed, new RandomWorld(seed, true, false).steps(length)),
        () -> new Rerun(Rerun.reference(Waking.HELPED), true));
    play(
        "budgets that are spent",
        8_000,
        (seed, length) ->
            BudgetedWorld.timely(seed, new RandomWorld(seed, true, false).steps(length)),
        () -> new Rerun(Rerun.reference(Waking.HELPED), true));
  }

  @Test
  void flavorsAreTriedInTheSameOrderOfCost() {
    play(
        "costs",
        10_000,
        (seed, length) -> CostedWorld.steps(seed, new RandomWorld(seed, true, false).steps(length)),
        () -> new Rerun(Rerun.reference(Waking.HELPED), true));
    play(
        "costs with fewer pods",
        3_000,
        (seed, length) ->
            CostedWorld.steps(seed, new RandomWorld(seed, true, false, Pods.FEWER).steps(length)),
        () -> new Rerun(Rerun.reference(Waking.HELPED), true));
  }

  @Test
  void reservationsHoldTheSame() {
    play(
        "reservations",
        8_000,
        (seed, length) ->
            ReservedWorld.steps(seed, new RandomWorld(seed, true, false).steps(length)),
        () -> new Rerun(Rerun.reference(Waking.HELPED), true));
  }

  @Test
  void manyThatAreHeldStartInTheSameOrder() {
    play(
        "many held",
        8_000,
        (seed, length) -> HeldWorld.steps(seed, length, false),
        () -> new Rerun(Rerun.reference(Waking.HELPED), true));
  }

  @Test
  void theSameStartBeforeHeadsThatArePlanned() {
    play(
        "crowded back-fill",
        8_000,
        (seed, length) -> BackfilledWorld.crowded(seed, length, false, false),
        () -> new Rerun(Rerun.reference(Waking.HELPED), true));
    play(
        "back-fill",
        4_000,
        (seed, length) ->
            BackfilledWorld.steps(seed, new RandomWorld(seed, true, false).steps(length)),
        () -> new Rerun(Rerun.reference(Waking.HELPED), true));
    play(
        "crowded back-fill and reservations",
        4_000,
        (seed, length) ->
            ReservedWorld.steps(seed, BackfilledWorld.crowded(seed, length, false, false)),
        () -> new Rerun(Rerun.reference(Waking.HELPED), true));
  }

  private static void play(
      String what, int steps, BiFunction<Long, Integer, List<Step>> make, Supplier<Rerun> rerun) {
    AtomicLong admissions = new AtomicLong();
    AtomicLong starts = new AtomicLong();
    AtomicLong plans = new AtomicLong();
    AtomicLong moves = new AtomicLong();
    Worlds.play(
        what,
        steps,
        make,
        (seed, world) -> {
          Rerun one = rerun.get();
          one.play(world);
          admissions.addAndGet(one.admissions());
          starts.addAndGet(one.starts());
          plans.addAndGet(one.plans());
          moves.addAndGet(one.moves());
        });
    System.out.printf(
        "property: admissions=%s starts=%s plans=%s moves=%s%n", admissions, starts, plans, moves);
    assertThat(admissions).hasPositiveValue();
    assertThat(starts.get() > 0).isEqualTo(what.contains("back-fill"));
    assertThat(moves.get() > 0).isEqualTo(what.contains("back-fill"));
  }
}
