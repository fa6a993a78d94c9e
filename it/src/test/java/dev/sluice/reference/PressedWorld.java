package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Makes up few queues of one tree that are all full, and many who press in. All may be preempted at
 * most {@link #MOST} times within a while.
 */
final class PressedWorld {

  /** How often anybody may be preempted within the time of a world, whatever rule is nearest. */
  static final int MOST = 2;

  private static final PreemptionRules LIMITED =
      new PreemptionRules(
          Optional.empty(),
          Optional.of(new PreemptionRules.PreemptionLimit(MOST, Duration.ofHours(24))),
          Optional.empty(),
          false);

  /** How often a Workload may preempt the same one: seldom enough that it matters. */
  static PreemptionLimit repeats(long seed) {
    return new PreemptionLimit(
        1 + (int) Math.floorMod(seed, 3L), Duration.ofMinutes(1 + Math.floorMod(seed, 7L)));
  }

  private final Dice dice;
  private final boolean sharing;
  private final boolean protecting;
  private final boolean configured;

  PressedWorld(long seed, boolean sharing) {
    this(seed, sharing, true);
  }

  /** A world whose queues have PreemptionConfigs, and whose Workloads what these ask for. */
  static PressedWorld configured(long seed, boolean sharing) {
    return new PressedWorld(seed, sharing, true, true);
  }

  PressedWorld(long seed, boolean sharing, boolean protecting) {
    this(seed, sharing, protecting, false);
  }

  /**
   * A world.
   *
   * @param protecting whether preemptions are limited, and other rules protect from them
   */
  private PressedWorld(long seed, boolean sharing, boolean protecting, boolean configured) {
    this.dice = new Dice(seed);
    this.sharing = sharing;
    this.protecting = protecting;
    this.configured = configured;
  }

  List<Step> steps() {
    List<Step> steps = new ArrayList<>();
    steps.add(new Step.Declare(new SchedulerEvent.NamespaceChanged("ns-0", Map.of())));
    int flavors = 1 + dice.below(2);
    for (int i = 0; i < flavors; i++) {
      steps.add(
          new Step.Declare(
              new SchedulerEvent.FlavorChanged(
                  new Flavor("f-" + i, Map.of(), List.of(), List.of()))));
    }
    int cohorts = 1 + dice.below(3);
    for (int i = 0; i < cohorts; i++) {
      steps.add(
          new Step.Declare(
              new SchedulerEvent.CohortChanged(
                  new CohortSpec(
                      "co-" + i,
                      i == 0 ? "" : "co-" + dice.below(i),
                      dice.chance(30) ? groups(flavors) : List.of(),
                      weight(),
                      i == 0 && protecting
                          ? QuotaRules.DEFAULT.withPreemption(LIMITED)
                          : protecting()))));
    }
    int queues = 2 + dice.below(4);
    for (int i = 0; i < queues; i++) {
      steps.add(
          new Step.Declare(new SchedulerEvent.ClusterQueueChanged(queue(i, cohorts, flavors))));
      steps.add(
          new Step.Declare(
              new SchedulerEvent.LocalQueueChanged(
                  new LocalQueueSpec(
                      new LocalQueueId("ns-0", "lq-" + i), "cq-" + i, StopPolicy.NONE))));
      if (configured) {
        steps.add(
            new Step.Declare(
                new SchedulerEvent.LocalQueueChanged(
                    new LocalQueueSpec(
                        new LocalQueueId("ns-0", "lq-" + i + "-b"), "cq-" + i, StopPolicy.NONE))));
      }
    }
    int number = 0;
    for (int wave = 0; wave < 3; wave++) {
      for (int i = 2 + dice.below(6); i > 0; i--) {
        steps.add(submit(number++, queues));
      }
      if (wave < 2) {
        steps.add(new Step.Quiesce());
      }
    }
    return steps;
  }

  /** The same, and then decisions are carried out one by one while time passes and others come. */
  List<Step> stepsAndMore(int count) {
    List<Step> steps = new ArrayList<>(steps());
    int number = 100;
    while (steps.size() < count) {
      int thrown = dice.below(100);
      if (thrown < 25) {
        steps.add(new Step.Cycle());
      } else if (thrown < 45) {
        steps.add(new Step.Answer(dice.below(10), Step.End.WRITTEN));
      } else if (thrown < 60) {
        steps.add(
            new Step.AnswerEviction(
                dice.below(10),
                dice.chance(80) ? Step.EvictionEnd.WRITTEN : Step.EvictionEnd.REFUSED));
      } else if (thrown < 70) {
        steps.add(new Step.Leave(dice.below(10)));
      } else if (thrown < 78) {
        steps.add(new Step.Checkpoint(dice.below(10)));
      } else if (thrown < 86) {
        steps.add(new Step.Pass(1 + dice.below(3)));
      } else if (thrown < 90) {
        steps.add(new Step.PodsReady(dice.below(10), true));
      } else if (thrown < 94) {
        steps.add(new Step.Finish(dice.below(10)));
      } else {
        steps.add(submit(number++, 3));
      }
    }
    return steps;
  }

  private Step submit(int number, int queues) {
    String queue = "lq-" + dice.below(queues) + (configured && dice.chanceOfHalf() ? "-b" : "");
    return new Step.Submit(
        number * 6, // somebody stops the pods of each
        "ns-0",
        queue,
        RandomWorld.single("cpu", 1 + dice.below(4))
            .withPreemption(ofClass(new LocalQueueId("ns-0", queue))),
        dice.below(3),
        dice.below(20),
        false,
        0,
        false,
        false);
  }

  private PreemptionRules ofClass(LocalQueueId localQueue) {
    PreemptionRules rules =
        protecting && dice.chance(20) ? RandomRules.ofClass(dice) : PreemptionRules.NONE;
    return configured ? rules.withTraits(RandomRules.traits(dice, localQueue)) : rules;
  }

  private BigDecimal weight() {
    return sharing
        ? new BigDecimal(dice.pick(new String[] {"1", "1", "2", "0.5"}))
        : BigDecimal.ONE;
  }

  private QuotaRules protecting() {
    return protecting && dice.chance(40)
        ? QuotaRules.DEFAULT.withPreemption(RandomRules.ofQueue(dice))
        : QuotaRules.DEFAULT;
  }

  private List<ResourceGroup> groups(int flavors) {
    List<ResourceGroup.FlavorQuotas> quotas = new ArrayList<>();
    for (int i = 0; i < flavors; i++) {
      quotas.add(
          new ResourceGroup.FlavorQuotas(
              "f-" + i,
              Map.of(
                  "cpu",
                  new Quota(dice.below(5), ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED))));
    }
    return List.of(new ResourceGroup(List.of("cpu"), quotas));
  }

  private ClusterQueueSpec queue(int number, int cohorts, int flavors) {
    return new ClusterQueueSpec(
        "cq-" + number,
        "co-" + dice.below(cohorts),
        groups(flavors),
        dice.chance(30) ? QueueingStrategy.STRICT_FIFO : QueueingStrategy.BEST_EFFORT_FIFO,
        new LabelSelector.Requirements(List.of()),
        StopPolicy.NONE,
        false,
        new PreemptionPolicies(
            dice.pick(WithinClusterQueue.values()),
            dice.pick(ReclaimWithinCohort.values()),
            dice.chance(40),
            dice.chance(30) ? OptionalInt.of(dice.below(3)) : OptionalInt.empty()),
        RandomRules.fungibility(dice),
        weight(),
        List.of(),
        List.of(),
        false,
        false,
        QueueRules.DEFAULT
            .withQuota(protecting())
            .withPreemptionConfig(
                configured && dice.chance(70)
                    ? Optional.of(RandomRules.preemptionConfig(dice))
                    : Optional.empty()),
        Set.of());
  }
}
