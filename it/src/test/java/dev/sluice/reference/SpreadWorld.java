package dev.sluice.reference;

import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.TopologyRequest.Spreading;
import dev.sluice.core.model.TopologySpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** Makes the groups of pods of a random world be spread over domains, most of them by rules. */
final class SpreadWorld {

  private final Dice dice;

  private SpreadWorld(long seed) {
    this.dice = new Dice(seed);
  }

  /** The same steps, where Workloads have labels and rules. */
  static List<Step> steps(long seed, List<Step> steps) {
    SpreadWorld world = new SpreadWorld(seed);
    return steps.stream()
        .map(step -> step instanceof Step.Submit submit ? world.spread(submit) : step)
        .toList();
  }

  private Step.Submit spread(Step.Submit submit) {
    TreeMap<String, String> labels = new TreeMap<>();
    labels.put("app", "a" + (dice.chance(90) ? submit.number() : dice.below(9)) % 2);
    Optional<LabelRequirement> selector =
        dice.chance(5)
            ? Optional.empty()
            : Optional.of(
                new LabelRequirement(
                    "app",
                    LabelRequirement.Operator.IN,
                    dice.chance(80)
                        ? List.of(labels.getOrDefault("app", ""))
                        : List.of("a0", "a1")));
    List<Spreading.ShareRule> rules = rules();
    List<PodSetRequest> podSets = new ArrayList<>();
    for (PodSetRequest podSet : submit.shape().podSets()) {
      Spreading.Member member =
          new Spreading.Member(
              "ns",
              "uid-" + submit.number(),
              podSet.group().isEmpty() ? podSet.name() : podSet.group(),
              labels);
      podSets.add(podSet.with(podSet.topology().spread(new Spreading(member, selector, rules))));
    }
    return submit.with(submit.shape().withPodSets(podSets));
  }

  private List<Spreading.ShareRule> rules() {
    List<Spreading.ShareRule> rules = new ArrayList<>();
    for (String level : List.of("block", "rack", TopologySpec.HOSTNAME, "unheard-of")) {
      if (dice.chance(35) && rules.size() < 2) {
        rules.add(
            new Spreading.ShareRule(
                level, dice.pick(new Integer[] {1, 25, 34, 45, 50, 70, 99}), dice.chance(55)));
      }
    }
    return rules;
  }
}
