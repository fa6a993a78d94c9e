package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.ScanProgress;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.LabelSelector.LabelRequirement.Operator;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PreemptionProtection.PreemptionHistory;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.CandidatePriority;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.CandidateSelector;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.ClassNames;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Comparison;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.NumericLabel;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.PreemptionRule;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Scope;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig.Trigger;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.model.PreemptionRules.PreemptionTraits;
import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** Makes up rules of preemption whose times are over within a few seconds. */
final class RandomRules {

  private RandomRules() {}

  /** The rules of a ClusterQueue or a Cohort, which often has none. */
  static PreemptionRules ofQueue(Dice dice) {
    return dice.chance(40) ? PreemptionRules.NONE : rules(dice, false);
  }

  /** A queue whose Workloads have up to so many seconds to save their work. */
  static ClusterQueueSpec withGrace(ClusterQueueSpec queue, Dice dice, int most) {
    QuotaRules quota = queue.rules().quota();
    return queue.with(
        queue.strategy(),
        queue
            .rules()
            .withQuota(
                quota.withPreemption(
                    quota
                        .preemption()
                        .withCheckpointGrace(Optional.of(Duration.ofSeconds(dice.below(most)))))));
  }

  /** The rules of a priority class, which mostly has none. */
  static PreemptionRules ofClass(Dice dice) {
    return dice.chance(75) ? PreemptionRules.NONE : rules(dice, dice.chanceOfHalf());
  }

  /**
   * Policies for the search of a flavor, mostly with the progress that the gates give by default.
   */
  static FlavorFungibility fungibility(Dice dice) {
    return new FlavorFungibility(
        dice.chanceOfHalf(),
        dice.chanceOfHalf(),
        dice.chanceOfHalf(),
        dice.chance(60) ? ScanProgress.PRESERVED : dice.pick(ScanProgress.values()));
  }

  private static PreemptionRules rules(Dice dice, boolean exempt) {
    return new PreemptionRules(
        dice.chance(50) ? Optional.of(seconds(dice, 6)) : Optional.empty(),
        dice.chance(30)
            ? Optional.of(new PreemptionLimit(1 + dice.below(2), seconds(dice, 12)))
            : Optional.empty(),
        dice.chance(25) ? Optional.of(seconds(dice, 15)) : Optional.empty(),
        exempt);
  }

  /** What PreemptionConfigs compare of a Workload. */
  static PreemptionTraits traits(Dice dice, LocalQueueId localQueue) {
    Map<String, String> labels = new HashMap<>();
    if (dice.chance(60)) {
      labels.put("rank", dice.pick(new String[] {"0", "1", "2", "3", "none"}));
    }
    if (dice.chance(50)) {
      labels.put("team", dice.pick(new String[] {"a", "b"}));
    }
    return new PreemptionTraits(
        labels,
        dice.chance(60) ? Optional.of("class-" + dice.below(3)) : Optional.empty(),
        dice.below(3),
        Optional.of(localQueue));
  }

  /** The same steps, where queues have PreemptionConfigs, and Workloads what these ask for. */
  static List<Step> configured(long seed, List<Step> steps) {
    Dice dice = new Dice(seed);
    return steps.stream()
        .map(
            step ->
                switch (step) {
                  case Step.Submit submit ->
                      submit.with(
                          submit
                              .shape()
                              .withPreemption(
                                  submit
                                      .shape()
                                      .preemption()
                                      .withTraits(
                                          traits(
                                              dice,
                                              new LocalQueueId(
                                                  submit.namespace(), submit.queue())))));
                  case Step.Declare(SchedulerEvent.ClusterQueueChanged(var queue))
                      when dice.chance(60) ->
                      new Step.Declare(
                          new SchedulerEvent.ClusterQueueChanged(
                              queue.with(
                                  queue.strategy(),
                                  queue
                                      .rules()
                                      .withPreemptionConfig(Optional.of(preemptionConfig(dice))))));
                  default -> step;
                })
        .toList();
  }

  /** Few rules of few selectors, so that each kind of selector decides by itself, too. */
  static PreemptionConfig preemptionConfig(Dice dice) {
    List<PreemptionRule> rules = new ArrayList<>();
    for (int i = dice.below(4); i > 0; i--) {
      List<CandidateSelector> candidates = new ArrayList<>();
      for (int j = 1 + dice.below(2); j > 0; j--) {
        candidates.add(
            new CandidateSelector(
                dice.pick(Scope.values()),
                dice.chance(25)
                    ? Optional.of(Set.of("cq-" + dice.below(2), "cq-" + (2 + dice.below(2))))
                    : Optional.empty(),
                team(dice),
                dice.chance(40) ? List.of(rank(dice)) : List.of(),
                dice.chance(40)
                    ? Optional.of(
                        new CandidatePriority(dice.chanceOfHalf(), comparison(dice), classes(dice)))
                    : Optional.empty()));
      }
      rules.add(
          new PreemptionRule(team(dice), classes(dice), dice.pick(Trigger.values()), candidates));
    }
    return new PreemptionConfig(rules);
  }

  private static LabelSelector team(Dice dice) {
    return new LabelSelector.Requirements(
        dice.chance(70)
            ? List.of()
            : List.of(
                new LabelRequirement(
                    "team",
                    dice.pick(new Operator[] {Operator.IN, Operator.NOT_IN}),
                    List.of("a"))));
  }

  private static NumericLabel rank(Dice dice) {
    return new NumericLabel(
        "rank",
        dice.chanceOfHalf() ? OptionalLong.of(dice.below(3)) : OptionalLong.empty(),
        comparison(dice),
        dice.chance(30) ? OptionalLong.of(dice.below(3)) : OptionalLong.empty(),
        dice.chance(30) ? OptionalLong.of(1 + dice.below(3)) : OptionalLong.empty());
  }

  private static Optional<Comparison> comparison(Dice dice) {
    return dice.chance(70) ? Optional.of(dice.pick(Comparison.values())) : Optional.empty();
  }

  private static ClassNames classes(Dice dice) {
    return new ClassNames(
        dice.chance(20) ? Set.of("class-0", "class-1") : Set.of(),
        dice.chance(20) ? Set.of("class-2") : Set.of());
  }

  private static Duration seconds(Dice dice, int most) {
    return Duration.ofSeconds(1 + dice.below(most));
  }

  /** The same Workload, preempted once more and stopped now. */
  static PendingWorkload preempted(PendingWorkload workload, Instant now) {
    List<Instant> times = new ArrayList<>(workload.history().preemptedAt());
    times.add(now);
    return workload.withHistory(new PreemptionHistory(Optional.of(now), times));
  }
}
