package dev.sluice.reference;

import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.BudgetSpec.Limit;
import dev.sluice.core.model.BudgetSpec.Period;
import dev.sluice.core.model.BudgetSpec.Scope;
import dev.sluice.core.model.BudgetSpec.Unit;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.SchedulerEvent;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A made-up world with budgets: they come, change and go, and runs have ends, mostly. */
final class BudgetedWorld {

  private static final int BUDGETS = 5;

  private final Dice dice;

  /** Whether time passes often and little, so that many runs end in time and come near a limit. */
  private final boolean timely;

  private BudgetedWorld(long seed, boolean timely) {
    dice = new Dice(seed);
    this.timely = timely;
  }

  /** The steps of a world, with budgets in between. */
  static List<Step> steps(long seed, List<Step> world) {
    return new BudgetedWorld(seed, false).weave(world);
  }

  /** The same with tight limits, and with runs that mostly end in time. */
  static List<Step> timely(long seed, List<Step> world) {
    return new BudgetedWorld(seed, true).weave(world);
  }

  private List<Step> weave(List<Step> world) {
    List<Step> steps = new ArrayList<>();
    for (int number = 0; timely && number < BUDGETS; number++) {
      steps.add(new Step.Declare(budget(number)));
    }
    for (Step step : world) {
      if (dice.chance(timely ? 1 : 4)) {
        steps.add(new Step.Declare(budget(dice.below(BUDGETS))));
      } else if (dice.chance(1)) {
        steps.add(new Step.Declare(new SchedulerEvent.BudgetRemoved("b-" + dice.below(BUDGETS))));
      } else if (dice.chance(1)) {
        steps.add(new Step.Declare(prices()));
      } else if (dice.chance(6)) {
        steps.add(new Step.Pass(dice.chance(30) ? 900 : 1 + dice.below(30)));
      }
      if (timely && dice.chance(40)) {
        steps.add(new Step.Pass(1 + dice.below(6)));
      }
      steps.add(step instanceof Step.Submit submit ? running(submit) : step);
    }
    return steps;
  }

  private Step.Submit running(Step.Submit submit) {
    return dice.chance(15)
        ? submit
        : new Step.Submit(
            submit.number(),
            submit.namespace(),
            submit.queue(),
            submit
                .shape()
                .running(Optional.of(Duration.ofSeconds(1 + dice.below(timely ? 15 : 120)))),
            submit.priority(),
            submit.queuedAt(),
            submit.held(),
            submit.restsFor(),
            submit.defective(),
            submit.gated());
  }

  private SchedulerEvent budget(int number) {
    List<Limit> limits = new ArrayList<>();
    limits.add(limit("cpu", dice.chance(30) ? Set.of("f-" + dice.below(2)) : Set.of()));
    if (dice.chance(30)) {
      limits.add(limit("memory", Set.of()));
    }
    if (dice.chance(30)) {
      limits.add(limit(Limit.COST, dice.chance(30) ? Set.of("f-" + dice.below(2)) : Set.of()));
    }
    return new SchedulerEvent.BudgetChanged(
        new BudgetSpec(
            "b-" + number,
            scope(),
            limits,
            new Period(
                Unit.HOURLY,
                "UTC",
                number % 2 == 0
                    ? Optional.empty()
                    : Optional.of(Duration.ofSeconds(100L * number))),
            number % 2 == 0 && dice.chanceOfHalf() ? new BigDecimal("0.5") : BigDecimal.ZERO,
            dice.chance(90),
            dice.chance(60)),
        Optional.empty());
  }

  private SchedulerEvent prices() {
    return new SchedulerEvent.PricesChanged(
        "f-" + dice.below(3),
        dice.chance(20)
            ? Map.of()
            : Map.of(
                "cpu", BigDecimal.valueOf(dice.below(4)),
                "memory", BigDecimal.valueOf(dice.below(3))));
  }

  private Limit limit(String resource, Set<String> flavors) {
    return new Limit(resource, flavors, BigDecimal.valueOf(2_000L * dice.below(timely ? 30 : 400)));
  }

  private Scope scope() {
    return switch (dice.below(4)) {
      case 0 -> new Scope.OfClusterQueue("cq-" + dice.below(3));
      case 1 -> new Scope.OfCohort("co-" + dice.below(3));
      case 2 ->
          new Scope.OfLocalQueue(new LocalQueueId("ns-" + dice.below(2), "lq-" + dice.below(3)));
      default -> new Scope.OfNamespaces(new LabelSelector.Requirements(List.of()));
    };
  }
}
