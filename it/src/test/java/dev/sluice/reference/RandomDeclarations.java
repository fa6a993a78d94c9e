package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.AttemptBackoff;
import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;

/** Makes up flavors, queues, cohorts and namespaces. */
final class RandomDeclarations {

  /** Two of these are more than a number holds. */
  private static final long HUGE = ResourceAmounts.UNLIMITED / 4 * 3;

  private static final List<String> COUNTED = List.of("cpu", "memory", "pods");

  private final Dice dice;
  private final WorldSize size;
  private final RandomShapes shapes;
  private final RandomNodes nodes;

  RandomDeclarations(Dice dice, WorldSize size, RandomShapes shapes, RandomNodes nodes) {
    this.nodes = nodes;
    this.dice = dice;
    this.size = size;
    this.shapes = shapes;
  }

  SchedulerEvent namespace(int number) {
    return dice.chance(3)
        ? new SchedulerEvent.NamespaceRemoved("ns-" + number)
        : new SchedulerEvent.NamespaceChanged("ns-" + number, Map.of("team", "" + dice.below(2)));
  }

  SchedulerEvent flavor(int number) {
    if (size.topologies()) {
      return new SchedulerEvent.FlavorChanged(
          new Flavor(
              "f-" + number,
              nodes.labels(),
              List.of(),
              dice.chance(10) ? List.of(new Toleration("hard", "Exists", "", "")) : List.of(),
              RandomNodes.topologyOf(number)));
    }
    List<Taint> taints =
        dice.chance(75)
            ? List.of()
            : List.of(
                new Taint(
                    "taint-" + dice.below(2),
                    "" + dice.below(2),
                    dice.pick(new String[] {"NoSchedule", "NoExecute", "PreferNoSchedule"})));
    return new SchedulerEvent.FlavorChanged(
        new Flavor(
            "f-" + number,
            shapes.labels(),
            taints,
            dice.chance(20) ? List.of(shapes.toleration()) : List.of()));
  }

  private Quota quota(boolean limited) {
    if (size.topologies() && dice.chance(60)) {
      return new Quota(6L + dice.below(20), ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
    }
    long nominal = size.preempting() && dice.chance(80) ? 1 + dice.below(5) : dice.below(12);
    return new Quota(
        dice.chance(2) ? HUGE : nominal,
        limited && dice.chance(30)
            ? dice.below(size.preempting() ? 4 : 6)
            : ResourceAmounts.UNLIMITED,
        limited && dice.chance(30) ? dice.below((int) nominal + 1) : ResourceAmounts.UNLIMITED);
  }

  private List<ResourceGroup> groups(boolean limited) {
    List<List<String>> parts =
        size.preempting() && size.memory() > 0
            ? List.of(dice.chance(50) ? List.of("memory", "cpu") : COUNTED)
            : switch (dice.below(size.preempting() ? 7 : 4)) {
              case 0, 4, 5, 6 -> List.of(List.of("cpu"));
              case 1 -> List.of(List.of("cpu"), List.of("memory"));
              case 2 -> List.of(COUNTED);
              default -> List.of(List.of("memory", "cpu"));
            };
    List<ResourceGroup> groups = new ArrayList<>();
    for (List<String> resources : parts) {
      List<Integer> numbers = new ArrayList<>();
      for (int i = 0; i < size.flavors(); i++) {
        numbers.add(i);
      }
      java.util.Collections.shuffle(numbers, dice.random());
      List<ResourceGroup.FlavorQuotas> quotas = new ArrayList<>();
      for (int flavor : numbers.subList(0, 1 + dice.below(size.flavors()))) {
        Map<String, Quota> each = new HashMap<>();
        resources.forEach(resource -> each.put(resource, quota(limited)));
        quotas.add(new ResourceGroup.FlavorQuotas("f-" + flavor, each));
      }
      groups.add(new ResourceGroup(resources, quotas));
    }
    return groups;
  }

  SchedulerEvent cohort(int number) {
    // Mostly towards lower numbers, so that chains end; now and then anywhere, cycles included.
    String parent = "";
    if (size.oneTree()) {
      parent = number == 0 ? "" : "co-" + dice.below(number);
    } else if (dice.chance(50)) {
      parent = "co-" + (dice.chance(90) ? dice.below(number + 1) : dice.below(size.cohortCount()));
      if (parent.equals("co-" + number) && dice.chance(90)) {
        parent = "";
      }
    }
    return new SchedulerEvent.CohortChanged(
        new CohortSpec(
            "co-" + number,
            parent,
            dice.chance(50) ? List.of() : groups(!parent.isEmpty()),
            weight(),
            protecting(size.policies() ? quotaRules() : QuotaRules.DEFAULT)));
  }

  SchedulerEvent clusterQueue(int number) {
    String cohort =
        size.oneTree() || (size.cohorts() && dice.chance(85))
            ? "co-" + dice.below(size.cohortCount())
            : "";
    LabelSelector selector =
        dice.chance(size.preempting() ? 98 : 90)
            ? new LabelSelector.Requirements(List.of())
            : dice.chance(80)
                ? new LabelSelector.Requirements(
                    List.of(
                        new LabelRequirement(
                            "team", LabelRequirement.Operator.IN, List.of("" + dice.below(2)))))
                : new LabelSelector.Nothing();
    ClusterQueueSpec spec =
        new ClusterQueueSpec(
            "cq-" + number,
            cohort,
            groups(!cohort.isEmpty()),
            dice.chance(size.preempting() ? 25 : 40)
                ? QueueingStrategy.STRICT_FIFO
                : QueueingStrategy.BEST_EFFORT_FIFO,
            selector,
            dice.chance(94) ? StopPolicy.NONE : dice.pick(StopPolicy.values()),
            dice.chance(2),
            size.preempting() ? policies() : PreemptionPolicies.NEVER,
            RandomRules.fungibility(dice),
            weight(),
            List.of(),
            dice.chance(2) ? List.of(new InactiveReason("Unknown", "something")) : List.of(),
            false,
            false,
            QueueRules.DEFAULT.withQuota(protecting(QuotaRules.DEFAULT)),
            size.topologies() && dice.chance(5) ? Set.of("f-0") : Set.of());
    return new SchedulerEvent.ClusterQueueChanged(
        size.policies() ? spec.with(strategy(spec), rules()) : spec);
  }

  private QueueingStrategy strategy(ClusterQueueSpec spec) {
    return dice.chance(30)
        ? spec.strategy()
        : dice.chanceOfHalf() ? QueueingStrategy.ROUND_ROBIN : QueueingStrategy.STRICT_PRIORITY;
  }

  private QuotaRules quotaRules() {
    return new QuotaRules(
        dice.chance(60)
            ? BigDecimal.ONE
            : new BigDecimal(dice.pick(new String[] {"1.5", "2", "1.34"})),
        most(),
        dice.chance(25));
  }

  private QuotaRules protecting(QuotaRules rules) {
    return size.protecting() ? rules.withPreemption(RandomRules.ofQueue(dice)) : rules;
  }

  private OptionalInt most() {
    return dice.chance(80) ? OptionalInt.empty() : OptionalInt.of(1 + dice.below(4));
  }

  private QueueRules rules() {
    QueueRules rules =
        QueueRules.DEFAULT
            .withPriority(dice.chance(70) ? 0 : dice.below(3) - 1)
            .withQuota(protecting(quotaRules()));
    rules = dice.chanceOfHalf() ? rules.countingPreemptible() : rules;
    rules = dice.chance(20) ? rules.blockingUntilReady() : rules;
    return dice.chanceOfHalf()
        ? rules
        : rules.withAttemptBackoff(
            new AttemptBackoff(
                Duration.ofSeconds(1 + dice.below(3)), Duration.ofSeconds(4 + dice.below(5))));
  }

  /** Mostly such that shares are often equal. */
  private BigDecimal weight() {
    return !size.weighted() || dice.chance(50)
        ? BigDecimal.ONE
        : new BigDecimal(dice.pick(new String[] {"0", "0.5", "2", "3", "0.001"}));
  }

  private PreemptionPolicies policies() {
    return new PreemptionPolicies(
        dice.chance(20)
            ? PreemptionPolicies.WithinClusterQueue.NEVER
            : dice.pick(PreemptionPolicies.WithinClusterQueue.values()),
        dice.chance(20)
            ? PreemptionPolicies.ReclaimWithinCohort.NEVER
            : dice.pick(PreemptionPolicies.ReclaimWithinCohort.values()),
        dice.chance(40),
        dice.chance(50) ? OptionalInt.of(dice.below(3)) : OptionalInt.empty());
  }

  SchedulerEvent localQueue(String namespace, int number) {
    return new SchedulerEvent.LocalQueueChanged(
        new LocalQueueSpec(
            new LocalQueueId(namespace, "lq-" + number),
            "cq-" + (dice.chance(90) ? number : dice.below(size.queues())),
            dice.chance(93) ? StopPolicy.NONE : dice.pick(StopPolicy.values()),
            1,
            size.policies() ? most() : OptionalInt.empty()));
  }
}
