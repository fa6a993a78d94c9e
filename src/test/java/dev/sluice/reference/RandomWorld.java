package dev.sluice.reference;

import dev.sluice.model.Amounts;
import dev.sluice.model.ClusterQueueSpec;
import dev.sluice.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.model.CohortSpec;
import dev.sluice.model.Fact;
import dev.sluice.model.Flavor;
import dev.sluice.model.FlavorFungibility;
import dev.sluice.model.LabelRequirement;
import dev.sluice.model.LabelSelector;
import dev.sluice.model.LocalQueueId;
import dev.sluice.model.LocalQueueSpec;
import dev.sluice.model.Placement;
import dev.sluice.model.PodSetRequest;
import dev.sluice.model.PreemptionPolicies;
import dev.sluice.model.QueueProblem;
import dev.sluice.model.Quota;
import dev.sluice.model.ResourceGroup;
import dev.sluice.model.Taint;
import dev.sluice.model.Toleration;
import dev.sluice.model.WorkloadShape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;

/** Makes up a world and what happens in it; the same seed makes up the same. */
final class RandomWorld {

  private static final List<String> COUNTED = List.of("cpu", "memory", "pods");

  private final Random random;
  private final boolean cohorts;
  private final boolean preempting;
  private final Pods pods;
  private final int flavors;
  private final int queues;
  private final int cohortCount;
  private final int workloads;
  private final boolean calm;
  private final int memory;

  /**
   * @param cohorts whether queues share quota
   * @param preempting whether they preempt
   */
  RandomWorld(long seed, boolean cohorts, boolean preempting) {
    this(seed, cohorts, preempting, Pods.ALL);
  }

  /** What is special about the pods of this world. */
  enum Pods {
    /** Nothing: all of them start, and nobody asks whether they are ready. */
    ALL,
    /** Many Workloads may start with fewer. */
    FEWER,
    /** Some get ready, some don't. */
    GET_READY
  }

  RandomWorld(long seed, boolean cohorts, boolean preempting, Pods pods) {
    random = new Random(seed);
    this.cohorts = cohorts;
    this.preempting = preempting;
    this.pods = pods;
    flavors = 1 + random.nextInt(3);
    queues = cohorts ? 1 + random.nextInt(5) : 1;
    cohortCount = 1 + random.nextInt(5);
    workloads = 3 + random.nextInt(20);
    memory = random.nextInt(3) == 0 ? 40 : 0;
    calm = random.nextBoolean();
  }

  static WorkloadShape single(String resource, long amount) {
    return new WorkloadShape(
        List.of(
            new PodSetRequest(
                "main", 1, 0, new TreeMap<>(Map.of(resource, amount)), Placement.ANYWHERE, "")));
  }

  List<Step> steps(int count) {
    List<Step> steps = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      steps.add(new Step.Declare(namespace(i)));
    }
    for (int i = 0; i < flavors; i++) {
      steps.add(new Step.Declare(flavor(i)));
    }
    if (cohorts) {
      for (int i = 0; i < cohortCount; i++) {
        if (!chance(25)) {
          steps.add(new Step.Declare(cohort(i)));
        }
      }
    }
    for (int i = 0; i < queues; i++) {
      steps.add(new Step.Declare(clusterQueue(i)));
      steps.add(new Step.Declare(localQueue("ns-0", i)));
      steps.add(new Step.Declare(localQueue("ns-1", i)));
    }
    while (steps.size() < count) {
      steps.add(step());
    }
    return steps;
  }

  private Step step() {
    if (pods == Pods.GET_READY && chance(25)) {
      return new Step.PodsReady(random.nextInt(10), chance(75));
    }
    if (preempting && chance(85)) {
      return pressingStep();
    }
    int dice = random.nextInt(100);
    if (dice < 30) {
      return submit();
    } else if (dice < 45) {
      return new Step.Answer(random.nextInt(10), end());
    } else if (dice < 58) {
      return new Step.Finish(random.nextInt(10));
    } else if (dice < 72) {
      return new Step.Cycle();
    } else if (dice < 82) {
      return new Step.Quiesce();
    } else if (dice < 84) {
      return new Step.Pass(random.nextInt(8));
    } else if (dice < 86) {
      return new Step.Evict(random.nextInt(10));
    } else if (dice < 88) {
      return new Step.Shrink(random.nextInt(10));
    } else if (dice < 90) {
      return new Step.Release(number());
    } else if (dice < 91) {
      return new Step.Touch(number());
    } else if (dice < 93) {
      return new Step.Echo(number(), random.nextBoolean());
    } else if (dice < 94) {
      return new Step.Repeat(random.nextInt(20));
    } else if (dice < 95) {
      return intrude(12);
    } else {
      return calm && chance(80) ? submit() : upheaval();
    }
  }

  /** What matters for preemption: full queues, and those who press in. */
  private Step pressingStep() {
    int dice = random.nextInt(100);
    if (dice < 30) {
      return submit();
    } else if (dice < 48) {
      return new Step.Answer(
          random.nextInt(10), chance(85) ? Step.End.WRITTEN : pick(Step.End.values()));
    } else if (dice < 68) {
      return new Step.Cycle();
    } else if (dice < 73) {
      return new Step.Quiesce();
    } else if (dice < 84) {
      return new Step.AnswerEviction(
          random.nextInt(10),
          chance(60) ? Step.EvictionEnd.WRITTEN : pick(Step.EvictionEnd.values()));
    } else if (dice < 91) {
      return new Step.Leave(random.nextInt(10));
    } else if (dice < 94) {
      return new Step.Reprioritize(random.nextInt(10), random.nextInt(4));
    } else if (dice < 96) {
      return new Step.Shrink(random.nextInt(10));
    } else if (dice < 97) {
      return new Step.Pass(random.nextInt(4));
    } else if (dice < 99) {
      return intrude(6);
    } else {
      return new Step.Finish(random.nextInt(10));
    }
  }

  private Step.End end() {
    return chance(60) ? Step.End.WRITTEN : pick(Step.End.values());
  }

  private Step upheaval() {
    return switch (random.nextInt(13)) {
      case 0 -> new Step.Declare(flavor(random.nextInt(flavors)));
      case 1 -> new Step.Declare(new Fact.FlavorRemoved("f-" + random.nextInt(flavors)));
      case 2, 3, 4 -> new Step.Declare(clusterQueue(random.nextInt(queues)));
      case 5 -> new Step.Declare(new Fact.ClusterQueueRemoved("cq-" + random.nextInt(queues)));
      case 6, 7 -> cohorts ? new Step.Declare(cohort(random.nextInt(cohortCount))) : submit();
      case 8 ->
          cohorts
              ? new Step.Declare(new Fact.CohortRemoved("co-" + random.nextInt(cohortCount)))
              : submit();
      case 9 -> new Step.Declare(localQueue("ns-" + random.nextInt(2), random.nextInt(queues)));
      case 10 ->
          new Step.Declare(
              new Fact.LocalQueueRemoved(
                  new LocalQueueId("ns-" + random.nextInt(2), localQueueName())));
      case 11 -> new Step.Declare(namespace(random.nextInt(2)));
      default -> new Step.Deciding(chance(70));
    };
  }

  private int number() {
    return random.nextInt(workloads);
  }

  private String localQueueName() {
    return "lq-" + random.nextInt(queues);
  }

  private Step intrude(int most) {
    return new Step.Intrude(
        number(),
        "ns-" + random.nextInt(2),
        localQueueName(),
        "cq-" + random.nextInt(queues),
        "f-" + random.nextInt(flavors),
        random.nextInt(most),
        random.nextInt(4));
  }

  private Step.Submit submit() {
    return new Step.Submit(
        number(),
        "ns-" + random.nextInt(2),
        localQueueName(),
        shape(),
        random.nextInt(preempting ? 4 : 3),
        random.nextInt(20),
        chance(preempting ? 1 : 4),
        chance(preempting ? 1 : 5) ? 1 + random.nextInt(10) : 0,
        chance(4));
  }

  private WorkloadShape shape() {
    List<PodSetRequest> podSets = new ArrayList<>();
    int sets = chance(preempting ? 85 : 70) ? 1 : 2 + random.nextInt(2);
    for (int i = 0; i < sets; i++) {
      SortedMap<String, Long> perPod = new TreeMap<>();
      perPod.put("cpu", preempting ? amount() : (long) random.nextInt(6));
      if (chance(preempting ? memory : 50)) {
        perPod.put("memory", (long) random.nextInt(5));
      }
      if (chance(preempting ? 0 : 3)) {
        perPod.put("unheard-of", (long) random.nextInt(2));
      }
      int count = chance(preempting ? 90 : 70) ? 1 : random.nextInt(4);
      int minCount = 0;
      if (pods == Pods.FEWER && chance(70)) {
        count = 1 + random.nextInt(8);
        minCount = 1 + random.nextInt(count);
      }
      podSets.add(
          new PodSetRequest(
              "set-" + i,
              count,
              minCount,
              perPod,
              chance(preempting ? 93 : 80) ? Placement.ANYWHERE : placement(),
              chance(25) ? "group" : ""));
    }
    return new WorkloadShape(podSets);
  }

  private long amount() {
    return chance(5) ? random.nextInt(8) : 1 + random.nextInt(3);
  }

  private Placement placement() {
    Map<String, String> selector = chance(50) ? Map.of() : labels();
    List<List<LabelRequirement>> terms = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      List<LabelRequirement> term = new ArrayList<>();
      for (int k = random.nextInt(3); k > 0; k--) {
        term.add(requirement());
      }
      terms.add(term);
    }
    return new Placement(selector, terms, chance(60) ? List.of(toleration()) : List.of());
  }

  private LabelRequirement requirement() {
    LabelRequirement.Operator operator = pick(LabelRequirement.Operator.values());
    return new LabelRequirement(
        "key-" + random.nextInt(3),
        operator,
        switch (operator) {
          case EXISTS, DOES_NOT_EXIST -> List.of();
          case GT, LT -> List.of("" + random.nextInt(3));
          case IN, NOT_IN -> List.of("" + random.nextInt(3), "" + random.nextInt(3));
        });
  }

  private Toleration toleration() {
    return new Toleration(
        chance(20) ? "" : "taint-" + random.nextInt(2),
        pick(new String[] {"", "Equal", "Exists"}),
        "" + random.nextInt(2),
        pick(new String[] {"", "NoSchedule", "NoExecute"}));
  }

  private Map<String, String> labels() {
    Map<String, String> labels = new HashMap<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      labels.put("key-" + random.nextInt(3), "" + random.nextInt(3));
    }
    return labels;
  }

  private Fact namespace(int number) {
    return chance(3)
        ? new Fact.NamespaceRemoved("ns-" + number)
        : new Fact.NamespaceChanged("ns-" + number, Map.of("team", "" + random.nextInt(2)));
  }

  private Fact flavor(int number) {
    List<Taint> taints =
        chance(75)
            ? List.of()
            : List.of(
                new Taint(
                    "taint-" + random.nextInt(2),
                    "" + random.nextInt(2),
                    pick(new String[] {"NoSchedule", "NoExecute", "PreferNoSchedule"})));
    return new Fact.FlavorChanged(
        new Flavor(
            "f-" + number, labels(), taints, chance(20) ? List.of(toleration()) : List.of()));
  }

  private Quota quota(boolean limited) {
    long nominal = preempting && chance(80) ? 1 + random.nextInt(5) : random.nextInt(12);
    return new Quota(
        nominal,
        limited && chance(30) ? random.nextInt(preempting ? 4 : 6) : Amounts.UNLIMITED,
        limited && chance(30) ? random.nextInt((int) nominal + 1) : Amounts.UNLIMITED);
  }

  private List<ResourceGroup> groups(boolean limited) {
    List<List<String>> parts =
        preempting && memory > 0
            ? List.of(chance(50) ? List.of("memory", "cpu") : COUNTED)
            : switch (random.nextInt(preempting ? 7 : 4)) {
              case 0, 4, 5, 6 -> List.of(List.of("cpu"));
              case 1 -> List.of(List.of("cpu"), List.of("memory"));
              case 2 -> List.of(COUNTED);
              default -> List.of(List.of("memory", "cpu"));
            };
    List<ResourceGroup> groups = new ArrayList<>();
    for (List<String> resources : parts) {
      List<Integer> numbers = new ArrayList<>();
      for (int i = 0; i < flavors; i++) {
        numbers.add(i);
      }
      java.util.Collections.shuffle(numbers, random);
      List<ResourceGroup.FlavorQuotas> quotas = new ArrayList<>();
      for (int flavor : numbers.subList(0, 1 + random.nextInt(flavors))) {
        Map<String, Quota> each = new HashMap<>();
        resources.forEach(resource -> each.put(resource, quota(limited)));
        quotas.add(new ResourceGroup.FlavorQuotas("f-" + flavor, each));
      }
      groups.add(new ResourceGroup(resources, quotas));
    }
    return groups;
  }

  private Fact cohort(int number) {
    // Mostly towards lower numbers, so that chains end; now and then anywhere, cycles included.
    String parent = "";
    if (chance(50)) {
      parent = "co-" + (chance(90) ? random.nextInt(number + 1) : random.nextInt(cohortCount));
      if (parent.equals("co-" + number) && chance(90)) {
        parent = "";
      }
    }
    return new Fact.CohortChanged(
        new CohortSpec("co-" + number, parent, chance(50) ? List.of() : groups(!parent.isEmpty())));
  }

  private Fact clusterQueue(int number) {
    String cohort = cohorts && chance(85) ? "co-" + random.nextInt(cohortCount) : "";
    LabelSelector selector =
        chance(preempting ? 98 : 90)
            ? new LabelSelector.Requirements(List.of())
            : chance(80)
                ? new LabelSelector.Requirements(
                    List.of(
                        new LabelRequirement(
                            "team", LabelRequirement.Operator.IN, List.of("" + random.nextInt(2)))))
                : new LabelSelector.Nothing();
    return new Fact.ClusterQueueChanged(
        new ClusterQueueSpec(
            "cq-" + number,
            cohort,
            groups(!cohort.isEmpty()),
            chance(preempting ? 25 : 40)
                ? QueueingStrategy.STRICT_FIFO
                : QueueingStrategy.BEST_EFFORT_FIFO,
            selector,
            chance(94) ? StopPolicy.NONE : pick(StopPolicy.values()),
            chance(2),
            preempting ? policies() : PreemptionPolicies.NEVER,
            new FlavorFungibility(random.nextBoolean(), random.nextBoolean(), random.nextBoolean()),
            List.of(),
            chance(2) ? List.of(new QueueProblem("Unknown", "something")) : List.of()));
  }

  private PreemptionPolicies policies() {
    return new PreemptionPolicies(
        chance(20)
            ? PreemptionPolicies.WithinClusterQueue.NEVER
            : pick(PreemptionPolicies.WithinClusterQueue.values()),
        chance(20)
            ? PreemptionPolicies.ReclaimWithinCohort.NEVER
            : pick(PreemptionPolicies.ReclaimWithinCohort.values()),
        chance(40),
        chance(50) ? OptionalInt.of(random.nextInt(3)) : OptionalInt.empty());
  }

  private Fact localQueue(String namespace, int number) {
    return new Fact.LocalQueueChanged(
        new LocalQueueSpec(
            new LocalQueueId(namespace, "lq-" + number),
            "cq-" + (chance(90) ? number : random.nextInt(queues)),
            chance(93) ? StopPolicy.NONE : pick(StopPolicy.values())));
  }

  private boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  private <T> T pick(T[] among) {
    return among[random.nextInt(among.length)];
  }
}
