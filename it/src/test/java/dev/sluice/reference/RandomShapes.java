package dev.sluice.reference;

import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.Toleration;
import dev.sluice.reference.RandomWorld.Pods;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** Makes up what Workloads ask for, and labels. */
final class RandomShapes {

  private final Dice dice;
  private final WorldSize size;
  private final RandomNodes nodes;

  RandomShapes(Dice dice, WorldSize size, RandomNodes nodes) {
    this.nodes = nodes;
    this.dice = dice;
    this.size = size;
  }

  RequestShape shape() {
    if (size.topologies()) {
      return nodes.shape();
    }
    List<PodSetRequest> podSets = new ArrayList<>();
    int sets = dice.chance(size.preempting() ? 85 : 70) ? 1 : 2 + dice.below(2);
    for (int i = 0; i < sets; i++) {
      SortedMap<String, Long> perPod = new TreeMap<>();
      perPod.put("cpu", size.preempting() ? amount() : (long) dice.below(6));
      if (dice.chance(size.preempting() ? size.memory() : 50)) {
        perPod.put("memory", (long) dice.below(5));
      }
      if (dice.chance(size.preempting() ? 0 : 3)) {
        perPod.put("unheard-of", (long) dice.below(2));
      }
      int count = dice.chance(size.preempting() ? 90 : 70) ? 1 : dice.below(4);
      int spare = 0;
      if (size.pods() == Pods.FEWER && dice.chance(70)) {
        count = 1 + dice.below(8);
        spare = dice.below(1 + count);
      }
      podSets.add(
          new PodSetRequest(
              "set-" + i,
              count,
              spare,
              perPod,
              dice.chance(size.preempting() ? 93 : 80) ? NodeConstraints.ANYWHERE : placement(),
              dice.chance(25) ? "group" : ""));
    }
    return new RequestShape(podSets, size.policies() && dice.chance(35));
  }

  private long amount() {
    return dice.chance(5) ? dice.below(8) : 1 + dice.below(3);
  }

  private NodeConstraints placement() {
    Map<String, String> selector = dice.chance(50) ? Map.of() : labels();
    List<List<LabelRequirement>> terms = new ArrayList<>();
    for (int i = dice.below(3); i > 0; i--) {
      List<LabelRequirement> term = new ArrayList<>();
      for (int k = dice.below(3); k > 0; k--) {
        term.add(requirement());
      }
      terms.add(term);
    }
    return new NodeConstraints(
        selector, terms, dice.chance(60) ? List.of(toleration()) : List.of());
  }

  /** Where pods of a variant may run. */
  static NodeConstraints inFlavor(String flavor) {
    return new NodeConstraints(
        Map.of(),
        List.of(
            List.of(
                new LabelRequirement(
                    NodeConstraints.VARIANT, LabelRequirement.Operator.IN, List.of(flavor)))),
        List.of());
  }

  private LabelRequirement requirement() {
    LabelRequirement.Operator operator = dice.pick(LabelRequirement.Operator.values());
    return new LabelRequirement(
        "key-" + dice.below(3),
        operator,
        switch (operator) {
          case EXISTS, DOES_NOT_EXIST -> List.of();
          case GT, LT -> List.of("" + dice.below(3));
          case IN, NOT_IN -> List.of("" + dice.below(3), "" + dice.below(3));
        });
  }

  Toleration toleration() {
    return new Toleration(
        dice.chance(20) ? "" : "taint-" + dice.below(2),
        dice.pick(new String[] {"", "Equal", "Exists"}),
        "" + dice.below(2),
        dice.pick(new String[] {"", "NoSchedule", "NoExecute"}));
  }

  Map<String, String> labels() {
    Map<String, String> labels = new HashMap<>();
    for (int i = dice.below(3); i > 0; i--) {
      labels.put("key-" + dice.below(3), "" + dice.below(3));
    }
    return labels;
  }
}
