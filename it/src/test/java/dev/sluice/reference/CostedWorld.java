package dev.sluice.reference;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.QueueRules.CostRules.CheapestFirst;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A made-up world in which most queues try their flavors in the order of cost. */
final class CostedWorld {

  private final Dice dice;

  private CostedWorld(long seed) {
    dice = new Dice(seed);
  }

  /** The steps of a world, with prices that come and change. */
  static List<Step> steps(long seed, List<Step> world) {
    return new CostedWorld(seed).weave(world);
  }

  private List<Step> weave(List<Step> world) {
    List<Step> steps = new ArrayList<>();
    for (int flavor = 0; flavor < 3; flavor++) {
      steps.add(new Step.Declare(prices(flavor)));
    }
    for (Step step : world) {
      if (dice.chance(2)) {
        steps.add(new Step.Declare(prices(dice.below(3))));
      } else if (dice.chance(3)) {
        steps.add(new Step.Pass(1 + dice.below(90)));
      }
      if (step instanceof Step.Submit submit && dice.chance(70)) {
        steps.add(new Step.Declare(bound(submit, Duration.ofSeconds(1 + dice.below(240)))));
      }
      steps.add(
          switch (step) {
            case Step.Submit submit -> costing(submit);
            case Step.Declare(SchedulerEvent.ClusterQueueChanged(var queue)) ->
                new Step.Declare(new SchedulerEvent.ClusterQueueChanged(cheapest(queue)));
            case Step.Declare(SchedulerEvent.FlavorChanged(var flavor)) ->
                new Step.Declare(new SchedulerEvent.FlavorChanged(paced(flavor)));
            default -> step;
          });
    }
    return steps;
  }

  private SchedulerEvent prices(int flavor) {
    return new SchedulerEvent.PricesChanged(
        "f-" + flavor,
        dice.chance(15)
            ? Map.of()
            : Map.of(
                "cpu", BigDecimal.valueOf(dice.below(4)),
                "memory", BigDecimal.valueOf(dice.below(3))));
  }

  private static SchedulerEvent bound(Step.Submit submit, Duration bound) {
    return new SchedulerEvent.RunBounded(
        new WorkloadId("uid-" + submit.number(), submit.namespace(), "w" + submit.number()),
        RunBound.of(bound));
  }

  private ClusterQueueSpec cheapest(ClusterQueueSpec queue) {
    return dice.chance(20)
        ? queue
        : queue.with(
            queue.strategy(),
            queue
                .rules()
                .withCheapest(
                    Optional.of(
                        new CheapestFirst(
                            dice.chance(60)
                                ? Optional.empty()
                                : Optional.of(Duration.ofSeconds(dice.below(400)))))));
  }

  private Flavor paced(Flavor flavor) {
    return dice.chance(50)
        ? flavor
        : flavor.withPace(
            Optional.of(
                new Flavor.Pace(
                    BigDecimal.valueOf(dice.below(3), 1),
                    dice.pick(
                        new BigDecimal[] {
                          BigDecimal.ONE, new BigDecimal("0.5"), new BigDecimal("2")
                        }))));
  }

  private Step.Submit costing(Step.Submit submit) {
    return dice.chance(25)
        ? submit
        : submit.with(
            submit
                .shape()
                .costing(
                    Optional.of(
                        new CostRules(
                            dice.chance(40)
                                ? Optional.empty()
                                : Optional.of(Duration.ofMinutes(1 + 60L * dice.below(12))),
                            dice.chance(60)
                                ? Optional.empty()
                                : Optional.of(BigDecimal.valueOf(dice.below(20))),
                            dice.chance(75)
                                ? Optional.empty()
                                : Optional.of(Duration.ofSeconds(dice.below(400)))))));
  }
}
