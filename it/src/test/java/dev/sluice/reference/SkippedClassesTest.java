package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/**
 * Random worlds with many queues in few cohorts: where heads are skipped, the engine decides the
 * same in every cycle as one that gives each of them an outcome of its own.
 */
class SkippedClassesTest {

  @Test
  void whoeverIsSkippedIsDecidedOnAsBefore() {
    play("skipped classes", false);
  }

  @Test
  void whoeverIsSkippedBesideReservationsIsDecidedOnAsBefore() {
    play(
        "skipped classes and reservations",
        20_000,
        false,
        (seed, length) -> ReservedWorld.steps(seed, steps(seed, length, false)));
  }

  @Test
  void whoeverIsSkippedInATournamentIsDecidedOnAsBefore() {
    play("skipped classes with fair sharing", true);
  }

  /**
   * <i>left</i> has no quota of its own, <i>right</i> has 2. <i>first</i> preempted in <i>left</i>
   * and waits there again with <i>elder</i>, who asks for the same. Both are skipped beside one of
   * <i>right</i>: when that one ends, the preemptor comes before its elder.
   */
  @Test
  void aPreemptorComesBeforeItsElderAfterBothWereSkipped() {
    List<String> log = new ArrayList<>();
    for (boolean plain : List.of(true, false)) {
      EngineOptions options = new EngineOptions(rules(1), false);
      TwinWorld world =
          new TwinWorld(
              List.of(plain ? new EngineProbe(options) : EngineProbe.withAllOutcomes(options)));
      world.play(
          List.of(
              new Step.Declare(new SchedulerEvent.NamespaceChanged("ns-0", Map.of())),
              new Step.Declare(
                  new SchedulerEvent.FlavorChanged(
                      new Flavor("f", Map.of(), List.of(), List.of()))),
              new Step.Declare(
                  queue(
                      "left",
                      0,
                      WithinClusterQueue.LOWER_PRIORITY,
                      ReclaimWithinCohort.LOWER_PRIORITY)),
              new Step.Declare(
                  queue("right", 2, WithinClusterQueue.NEVER, ReclaimWithinCohort.NEVER)),
              new Step.Declare(localQueue("left")),
              new Step.Declare(localQueue("right")),
              submit(0, "left", 0, 0),
              new Step.Quiesce(),
              submit(1, "left", 1, 5),
              new Step.Quiesce(),
              submit(2, "left", 1, 1),
              submit(3, "right", 1, 2),
              new Step.Quiesce(),
              new Step.Evict(0),
              new Step.Cycle(),
              new Step.Finish(0),
              new Step.Cycle()));
      log.add(String.join("\n", world.log()));
    }
    assertThat(log.getFirst()).isEqualTo(log.getLast());
    assertThat(log.getFirst().lastIndexOf("w1,")).isGreaterThan(log.getFirst().lastIndexOf("w3,"));
  }

  private static SchedulerEvent queue(
      String name, long cpu, WithinClusterQueue within, ReclaimWithinCohort reclaim) {
    Quota quota = new Quota(cpu, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
    return new SchedulerEvent.ClusterQueueChanged(
        new ClusterQueueSpec(
            name,
            "cohort",
            List.of(
                new ResourceGroup(
                    List.of("cpu"),
                    List.of(new ResourceGroup.FlavorQuotas("f", Map.of("cpu", quota))))),
            ClusterQueueSpec.QueueingStrategy.BEST_EFFORT_FIFO,
            new LabelSelector.Requirements(List.of()),
            ClusterQueueSpec.StopPolicy.NONE,
            false,
            new PreemptionPolicies(within, reclaim, false, OptionalInt.empty()),
            FlavorFungibility.DEFAULT,
            List.of(),
            List.of()));
  }

  private static SchedulerEvent localQueue(String name) {
    return new SchedulerEvent.LocalQueueChanged(
        new LocalQueueSpec(new LocalQueueId("ns-0", name), name, ClusterQueueSpec.StopPolicy.NONE));
  }

  private static Step submit(int number, String queue, long priority, int queuedAt) {
    return new Step.Submit(
        number,
        "ns-0",
        queue,
        RandomWorld.single("cpu", 2),
        priority,
        queuedAt,
        false,
        0,
        false,
        false);
  }

  private static void play(String what, boolean sharing) {
    play(what, 60_000, sharing, (seed, length) -> steps(seed, length, sharing));
  }

  private static void play(
      String what, int most, boolean sharing, BiFunction<Long, Integer, List<Step>> make) {
    AtomicLong decisions = new AtomicLong();
    Worlds.play(
        what,
        most,
        300,
        make,
        (seed, steps) -> {
          EngineOptions options =
              new EngineOptions(sharing ? rules(seed) : Optional.empty(), false);
          TwinWorld world =
              new TwinWorld(
                  List.of(new EngineProbe(options), EngineProbe.withAllOutcomes(options)));
          world.play(steps);
          decisions.addAndGet(world.decisions());
        });
    assertThat(decisions).hasPositiveValue();
  }

  /** In every other world most Workloads of a queue are alike, so that its classes are large. */
  private static List<Step> steps(long seed, int length, boolean sharing) {
    List<Step> steps = RandomWorld.crowded(seed, sharing).steps(length);
    return seed % 2 == 0 ? steps : steps.stream().map(SkippedClassesTest::alike).toList();
  }

  private static Step alike(Step step) {
    return step instanceof Step.Submit submit
        ? new Step.Submit(
            submit.number(),
            submit.namespace(),
            submit.queue(),
            RandomWorld.single("cpu", 1 + submit.number() % 2),
            submit.priority() / 2,
            submit.queuedAt(),
            submit.held(),
            submit.restsFor(),
            submit.defective(),
            submit.gated())
        : step;
  }

  private static Optional<FairSharing> rules(long seed) {
    Dice dice = new Dice(seed);
    return Optional.of(
        new FairSharing(
            List.of(Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, Strategy.LESS_THAN_INITIAL_SHARE),
            dice.chance(75),
            dice.chance(75)));
  }
}
