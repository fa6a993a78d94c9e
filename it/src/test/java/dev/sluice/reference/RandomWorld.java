package dev.sluice.reference;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.Variant;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** Makes up a world and what happens in it; the same seed makes up the same. */
final class RandomWorld {

  private final Dice dice;
  private final WorldSize size;
  private final RandomNodes nodes;
  private final RandomShapes shapes;
  private final RandomDeclarations declarations;

  /**
   * @param cohorts whether queues share quota
   * @param preempting whether they preempt
   */
  RandomWorld(long seed, boolean cohorts, boolean preempting) {
    this(seed, cohorts, preempting, Pods.ALL);
  }

  /** What is special about the pods of a world. */
  enum Pods {
    /** Nothing: all of them start, and nobody asks whether they are ready. */
    ALL,
    /** Many Workloads may start with fewer. */
    FEWER,
    /** Some get ready, some don't. */
    GET_READY,
    /** Many Workloads are slices of elastic jobs. */
    SLICES,
    /** Many Workloads are variants of few requests. */
    VARIANTS
  }

  RandomWorld(long seed, boolean cohorts, boolean preempting, Pods pods) {
    this(seed, cohorts, preempting, pods, false);
  }

  private RandomWorld(long seed, boolean cohorts, boolean preempting, Pods pods, boolean weighted) {
    this(seed, dice -> WorldSize.of(dice, cohorts, preempting, pods, weighted));
  }

  private RandomWorld(long seed, Function<Dice, WorldSize> sized) {
    dice = new Dice(seed);
    size = sized.apply(dice);
    nodes = new RandomNodes(size.topologies() ? dice : new Dice(0), size);
    shapes = new RandomShapes(dice, size, nodes);
    declarations = new RandomDeclarations(dice, size, shapes, nodes);
  }

  /** One whose queues have rules beyond the fields of their API. */
  static RandomWorld withPolicies(long seed, boolean preempting) {
    return new RandomWorld(
        seed, dice -> WorldSize.of(dice, true, preempting, Pods.ALL, preempting).withPolicies());
  }

  /** One with many queues in few cohorts, which preempt. */
  static RandomWorld crowded(long seed, boolean weighted) {
    return new RandomWorld(seed, dice -> WorldSize.crowded(dice, weighted));
  }

  /** One whose queues preempt, and have weights. */
  static RandomWorld weighted(long seed, Pods pods) {
    return new RandomWorld(seed, true, true, pods, true);
  }

  /** One whose pods are placed by topology. */
  static RandomWorld placed(long seed, boolean preempting, Pods pods, boolean weighted) {
    return new RandomWorld(
        seed, dice -> WorldSize.of(dice, true, preempting, pods, weighted).withTopologies());
  }

  static RequestShape single(String resource, long amount) {
    return new RequestShape(
        List.of(
            new PodSetRequest(
                "main",
                1,
                0,
                new TreeMap<>(Map.of(resource, amount)),
                NodeConstraints.ANYWHERE,
                "")));
  }

  List<Step> steps(int count) {
    List<Step> steps = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      steps.add(new Step.Declare(declarations.namespace(i)));
    }
    if (size.topologies()) {
      nodes.all().forEach(event -> steps.add(new Step.Declare(event)));
    }
    for (int i = 0; i < size.flavors(); i++) {
      steps.add(new Step.Declare(declarations.flavor(i)));
    }
    if (size.cohorts()) {
      for (int i = 0; i < size.cohortCount(); i++) {
        if (size.oneTree() || !dice.chance(25)) {
          steps.add(new Step.Declare(declarations.cohort(i)));
        }
      }
    }
    for (int i = 0; i < size.queues(); i++) {
      steps.add(new Step.Declare(declarations.clusterQueue(i)));
      steps.add(new Step.Declare(declarations.localQueue("ns-0", i)));
      steps.add(new Step.Declare(declarations.localQueue("ns-1", i)));
    }
    while (steps.size() < count) {
      steps.add(step());
    }
    return steps;
  }

  private Step step() {
    if (size.topologies() && dice.chance(8)) {
      return new Step.Declare(nodes.change());
    }
    if ((size.pods() == Pods.GET_READY && dice.chance(25))
        || (size.policies() && dice.chance(12))) {
      return new Step.PodsReady(dice.below(10), dice.chance(75));
    }
    if (size.gated() && dice.chance(10)) {
      return new Step.Gate(number(), dice.chance(40));
    }
    if (size.policies() && dice.chance(8)) {
      return new Step.Pass(1 + dice.below(4));
    }
    if (size.protecting() && dice.chance(5)) {
      return new Step.Checkpoint(dice.below(10));
    }
    if (size.protecting() && dice.chance(10)) {
      return dice.chance(30)
          ? new Step.PodsReady(dice.below(10), dice.chance(75))
          : new Step.Pass(1 + dice.below(4));
    }
    if (size.preempting() && dice.chance(85)) {
      return pressingStep();
    }
    int thrown = dice.below(100);
    if (thrown < 30) {
      return submit();
    } else if (thrown < 45) {
      return new Step.Answer(dice.below(10), end());
    } else if (thrown < 58) {
      return new Step.Finish(dice.below(10));
    } else if (thrown < 72) {
      return new Step.Cycle();
    } else if (thrown < 82) {
      return new Step.Quiesce();
    } else if (thrown < 84) {
      return new Step.Pass(dice.below(8));
    } else if (thrown < 86) {
      return new Step.Evict(dice.below(10));
    } else if (thrown < 88) {
      return new Step.Shrink(dice.below(10));
    } else if (thrown < 90) {
      return new Step.Release(number());
    } else if (thrown < 91) {
      return new Step.Touch(number());
    } else if (thrown < 93) {
      return new Step.Echo(number(), dice.chanceOfHalf());
    } else if (thrown < 94) {
      return new Step.Repeat(dice.below(20));
    } else if (thrown < 95) {
      return intrude(12);
    } else {
      return size.calm() && dice.chance(80) ? submit() : upheaval();
    }
  }

  /** What matters for preemption: full queues, and those who press in. */
  private Step pressingStep() {
    int thrown = dice.below(100);
    if (thrown < 30) {
      return submit();
    } else if (thrown < 48) {
      return new Step.Answer(
          dice.below(10), dice.chance(85) ? Step.End.WRITTEN : dice.pick(Step.End.values()));
    } else if (thrown < 68) {
      return new Step.Cycle();
    } else if (thrown < 73) {
      return new Step.Quiesce();
    } else if (thrown < 84) {
      return new Step.AnswerEviction(
          dice.below(10),
          dice.chance(60) ? Step.EvictionEnd.WRITTEN : dice.pick(Step.EvictionEnd.AT_ONCE));
    } else if (thrown < 91) {
      return new Step.Leave(dice.below(10));
    } else if (thrown < 93) {
      return new Step.Reprioritize(dice.below(10), dice.below(4));
    } else if (thrown < 94) {
      return new Step.Attend(dice.below(10), dice.chanceOfHalf());
    } else if (thrown < 96) {
      return new Step.Shrink(dice.below(10));
    } else if (thrown < 97) {
      return new Step.Pass(dice.below(4));
    } else if (thrown < 99) {
      return intrude(6);
    } else {
      return new Step.Finish(dice.below(10));
    }
  }

  private Step.End end() {
    return dice.chance(60) ? Step.End.WRITTEN : dice.pick(Step.End.values());
  }

  private Step upheaval() {
    return switch (dice.below(13)) {
      case 0 -> new Step.Declare(declarations.flavor(dice.below(size.flavors())));
      case 1 ->
          new Step.Declare(new SchedulerEvent.FlavorRemoved("f-" + dice.below(size.flavors())));
      case 2, 3, 4 -> new Step.Declare(declarations.clusterQueue(dice.below(size.queues())));
      case 5 ->
          new Step.Declare(
              new SchedulerEvent.ClusterQueueRemoved("cq-" + dice.below(size.queues())));
      case 6, 7 ->
          size.cohorts()
              ? new Step.Declare(declarations.cohort(dice.below(size.cohortCount())))
              : submit();
      case 8 ->
          size.cohorts() && !size.oneTree()
              ? new Step.Declare(
                  new SchedulerEvent.CohortRemoved("co-" + dice.below(size.cohortCount())))
              : submit();
      case 9 ->
          new Step.Declare(
              declarations.localQueue("ns-" + dice.below(2), dice.below(size.queues())));
      case 10 ->
          new Step.Declare(
              new SchedulerEvent.LocalQueueRemoved(
                  new LocalQueueId("ns-" + dice.below(2), localQueueName())));
      case 11 -> new Step.Declare(declarations.namespace(dice.below(2)));
      default -> new Step.Deciding(dice.chance(70));
    };
  }

  private int number() {
    return dice.below(size.workloads());
  }

  private String localQueueName() {
    return "lq-" + dice.below(size.queues());
  }

  private Step intrude(int most) {
    return new Step.Intrude(
        number(),
        "ns-" + dice.below(2),
        localQueueName(),
        "cq-" + dice.below(size.queues()),
        "f-" + dice.below(size.flavors()),
        dice.below(most),
        dice.below(4));
  }

  /** One of few Workloads that often meet in a queue, and replace one another. */
  private Step.Submit submitSlice() {
    int number = number();
    String queue = "lq-" + number / 4 % size.queues();
    String replaces = dice.chance(20) ? "" : "w" + (number / 4 * 4 + dice.below(4));
    JobSlice slice = new JobSlice("job-" + number / 4, "w" + number, replaces, number % 3 == 0);
    return new Step.Submit(
        number,
        "ns-0",
        dice.chance(95) ? queue : localQueueName(),
        ofClass(size.topologies() ? nodes.slice(number / 4) : shapes.shape())
            .withSlice(Optional.of(slice)),
        dice.below(3),
        dice.below(20),
        false,
        0,
        false,
        false);
  }

  /** A nomination of one of few requests for one flavor, which may take the place of another. */
  private Step.Submit submitVariant() {
    int number = number();
    int place = number % 4;
    JobSlice variant =
        JobSlice.variant(
            "parent-" + number / 4, "w" + number, new Variant(place, number / 4 % 3 > 0));
    NodeConstraints inFlavor = RandomShapes.inFlavor("f-" + place % size.flavors());
    RequestShape shape = ofClass(size.topologies() ? nodes.slice(number / 4) : shapes.shape());
    return new Step.Submit(
        number,
        "ns-0",
        "lq-" + number / 4 % size.queues(),
        shape
            .withPodSets(shape.podSets().stream().map(podSet -> podSet.with(inFlavor)).toList())
            .withSlice(Optional.of(variant)),
        dice.below(3),
        dice.below(20),
        false,
        0,
        false,
        size.gated() && dice.chance(40));
  }

  /** The request of a Workload of some priority class. */
  private RequestShape ofClass(RequestShape shape) {
    return size.protecting() ? shape.withPreemption(RandomRules.ofClass(dice)) : shape;
  }

  /** Every eighth Workload calls its pod sets otherwise than others with the same request. */
  private RequestShape named(int number, RequestShape shape) {
    return number % 8 != 7 || size.topologies()
        ? shape
        : shape.withPodSets(
            shape.podSets().stream()
                .map(podSet -> podSet.withName("other-" + podSet.name()))
                .toList());
  }

  private Step.Submit submit() {
    if (size.elastic() && dice.chance(70)) {
      return submitSlice();
    }
    if (size.pods() == Pods.VARIANTS && dice.chance(70)) {
      return submitVariant();
    }
    int number = number();
    return new Step.Submit(
        number,
        "ns-" + dice.below(2),
        localQueueName(),
        ofClass(named(number, shapes.shape())),
        dice.below(size.preempting() ? 4 : 3),
        dice.below(20),
        dice.chance(size.preempting() ? 1 : 4),
        dice.chance(size.preempting() ? 1 : 5) ? 1 + dice.below(10) : 0,
        dice.chance(4),
        size.gated() && dice.chance(40));
  }
}
