package dev.sluice.reference;

import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
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
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.FlavorQuotas;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.Variant;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.reference.RandomWorld.Pods;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;

/** A made-up world whose queues mostly have back-fill, and whose runs mostly have bounds. */
final class BackfilledWorld {

  private static final int SECONDS = 400;

  /** How many slices or variants belong together. */
  private static final int RELATED = 4;

  private final Dice dice;

  /** For times to save work: what else is made up doesn't depend on it. */
  private final Dice graces;

  private final boolean preempting;
  private final boolean weighted;
  private final Pods pods;
  private int flavors = 3;
  private int queues;

  private BackfilledWorld(long seed, boolean preempting, boolean weighted, Pods pods) {
    this.dice = new Dice(seed);
    this.graces = new Dice(~seed);
    this.preempting = preempting;
    this.weighted = weighted;
    this.pods = pods;
  }

  /** The steps of a world, with back-fill, and with bounds of runs in between. */
  static List<Step> steps(long seed, List<Step> world) {
    return new BackfilledWorld(seed, false, false, Pods.ALL).weave(world);
  }

  /**
   * Few queues, whose heads mostly ask for much, and many who are small.
   *
   * @param preempting whether queues preempt, and rules protect from that
   * @param weighted whether queues and cohorts have weights
   */
  static List<Step> crowded(long seed, int count, boolean preempting, boolean weighted) {
    return new BackfilledWorld(seed, preempting, weighted, Pods.ALL).make(count);
  }

  /** The same without weights, where something is special about the pods. */
  static List<Step> crowded(long seed, int count, boolean preempting, Pods pods) {
    return new BackfilledWorld(seed, preempting, false, pods).make(count);
  }

  /**
   * A crowded world in which only so many Workloads of a LocalQueue may have quota now and then.
   */
  static List<Step> limited(long seed, int count, boolean preempting) {
    Dice limits = new Dice(~seed);
    List<Step> steps = new ArrayList<>();
    for (Step step : crowded(seed, count, preempting, false)) {
      steps.add(step);
      if (limits.chance(8)) {
        int number = limits.below(4);
        steps.add(
            new Step.Declare(
                new SchedulerEvent.LocalQueueChanged(
                    new LocalQueueSpec(
                        new LocalQueueId("ns-0", "lq-" + number),
                        "cq-" + number,
                        StopPolicy.NONE,
                        1,
                        limits.chanceOfHalf()
                            ? OptionalInt.empty()
                            : OptionalInt.of(1 + limits.below(4))))));
      }
    }
    return steps;
  }

  /**
   * One queue in which everybody ends in time.
   *
   * @param priorities whether somebody may come before those who wait
   */
  static List<Step> inTime(long seed, int count, boolean priorities) {
    return new BackfilledWorld(seed, false, false, Pods.ALL).keep(count, priorities);
  }

  private List<Step> keep(int count, boolean priorities) {
    flavors = 1 + dice.below(2);
    List<Step> steps = new ArrayList<>();
    steps.add(new Step.Declare(new SchedulerEvent.NamespaceChanged("ns-0", Map.of())));
    declareFlavors(steps);
    ClusterQueueSpec queue =
        new ClusterQueueSpec(
            "cq-0",
            "",
            groups(false),
            QueueingStrategy.STRICT_FIFO,
            new LabelSelector.Requirements(List.of()),
            StopPolicy.NONE,
            false,
            PreemptionPolicies.NEVER,
            RandomRules.fungibility(dice),
            List.of(),
            List.of());
    steps.add(new Step.Declare(new SchedulerEvent.ClusterQueueChanged(backfilled(queue))));
    steps.add(localQueue(0));
    for (int number = 0; steps.size() < count; number++) {
      if (dice.chance(85)) {
        steps.add(
            new Step.Declare(
                new SchedulerEvent.RunBounded(
                    new WorkloadId("uid-" + number, "ns-0", "w" + number),
                    RunBound.of(duration()))));
      }
      long amount = dice.chance(20) ? 4 + dice.below(5) : 1 + dice.below(3);
      RequestShape shape = new RequestShape(List.of(podSet("main", 1, 0, Map.of("cpu", amount))));
      steps.add(
          new Step.Submit(
              number,
              "ns-0",
              "lq-0",
              shape,
              priorities ? dice.below(3) : 0,
              number,
              false,
              0,
              false,
              false));
      while (dice.chance(65)) {
        steps.add(
            dice.chance(20)
                ? new Step.Finish(dice.below(10))
                : new Step.PassInTime(1 + dice.below(40)));
      }
    }
    return steps;
  }

  private List<Step> weave(List<Step> world) {
    List<Step> steps = new ArrayList<>();
    for (Step step : world) {
      if (dice.chance(10)) {
        steps.add(new Step.Pass(dice.chance(30) ? 150 : 1 + dice.below(40)));
      }
      if (step instanceof Step.Submit submit && dice.chance(85)) {
        steps.add(bound(submit.namespace(), submit.number()));
      }
      steps.add(
          step instanceof Step.Declare(SchedulerEvent.ClusterQueueChanged(var queue))
                  && dice.chance(70)
              ? new Step.Declare(new SchedulerEvent.ClusterQueueChanged(backfilled(queue)))
              : step);
    }
    return steps;
  }

  private ClusterQueueSpec backfilled(ClusterQueueSpec queue) {
    return queue.with(
        QueueingStrategy.STRICT_FIFO,
        queue
            .rules()
            .withBackfill(
                Optional.of(
                    new BackfillRules(1 + dice.below(3), dice.pick(UnknownRunTime.values())))));
  }

  private Step bound(String namespace, int number) {
    RunBound bound =
        switch (dice.below(8)) {
          case 0 -> RunBound.UNKNOWN;
          case 1 ->
              new RunBound(Optional.empty(), Optional.of(duration()), Optional.of(duration()));
          default -> RunBound.of(duration());
        };
    return new Step.Declare(
        new SchedulerEvent.RunBounded(
            new WorkloadId("uid-" + number, namespace, "w" + number), bound));
  }

  private Duration duration() {
    return Duration.ofSeconds(1 + dice.below(SECONDS));
  }

  private List<Step> make(int count) {
    List<Step> steps = new ArrayList<>();
    steps.add(new Step.Declare(new SchedulerEvent.NamespaceChanged("ns-0", Map.of())));
    flavors = 1 + dice.below(2);
    declareFlavors(steps);
    queues = 1 + dice.below(4);
    for (int i = 0; i < 2; i++) {
      steps.add(cohort(i));
    }
    for (int i = 0; i < queues; i++) {
      steps.add(queue(i));
      steps.add(localQueue(i));
    }
    int number = 0;
    while (steps.size() < count) {
      int thrown = dice.below(100);
      if (pods == Pods.GET_READY && dice.chance(30)) {
        steps.add(new Step.PodsReady(dice.below(10), dice.chance(90)));
      } else if (preempting && dice.chance(20)) {
        steps.add(pressing());
      } else if (thrown < 30) {
        if (dice.chance(90)) {
          steps.add(bound("ns-0", number));
        }
        steps.add(submit(number++));
      } else if (thrown < 60) {
        steps.add(dice.chanceOfHalf() ? new Step.Quiesce() : new Step.Cycle());
      } else if (thrown < 72) {
        steps.add(
            new Step.Answer(
                dice.below(10), dice.chance(85) ? Step.End.WRITTEN : dice.pick(Step.End.values())));
      } else if (thrown < 80) {
        steps.add(new Step.Finish(dice.below(10)));
      } else if (thrown < 90) {
        steps.add(new Step.Pass(dice.chance(30) ? 150 : 1 + dice.below(40)));
      } else if (thrown < 92) {
        steps.add(bound("ns-0", dice.below(number + 1)));
      } else if (thrown < 94) {
        steps.add(dice.chance(30) ? cohort(dice.below(2)) : queue(dice.below(queues)));
      } else {
        steps.add(dice.chanceOfHalf() ? new Step.Evict(dice.below(10)) : new Step.Cycle());
      }
    }
    return steps;
  }

  private void declareFlavors(List<Step> steps) {
    for (int i = 0; i < flavors; i++) {
      steps.add(
          new Step.Declare(
              new SchedulerEvent.FlavorChanged(
                  new Flavor("f-" + i, Map.of(), List.of(), List.of()))));
    }
  }

  private static Step localQueue(int number) {
    return new Step.Declare(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(
                new LocalQueueId("ns-0", "lq-" + number), "cq-" + number, StopPolicy.NONE)));
  }

  private Step pressing() {
    return switch (dice.below(6)) {
      case 0, 1 ->
          new Step.AnswerEviction(
              dice.below(10),
              dice.chance(80)
                  ? graces.chance(25) ? Step.EvictionEnd.ASKED : Step.EvictionEnd.WRITTEN
                  : dice.pick(Step.EvictionEnd.AT_ONCE));
      case 2, 3 -> new Step.Leave(dice.below(10));
      case 4 -> new Step.PodsReady(dice.below(10), dice.chance(80));
      default -> new Step.Gate(dice.below(40), dice.chanceOfHalf());
    };
  }

  private Step submit(int number) {
    long amount = dice.chance(30) ? 3 + dice.below(6) : 1 + dice.below(3);
    Map<String, Long> perPod = new HashMap<>(Map.of("cpu", amount));
    if (dice.chance(20)) {
      perPod.put("memory", (long) dice.below(4));
    }
    List<PodSetRequest> podSets = new ArrayList<>();
    podSets.add(podSet("main", 1, dice.chance(90) ? 0 : 1, perPod));
    if (dice.chance(pods == Pods.FEWER ? 60 : 15)) {
      int count = 1 + dice.below(3);
      podSets.add(
          podSet("more", count, dice.chance(70) ? 0 : count - number % 2, Map.of("cpu", 1L)));
    }
    boolean related = (pods == Pods.SLICES || pods == Pods.VARIANTS) && dice.chance(70);
    RequestShape plain = new RequestShape(podSets);
    RequestShape shape = related ? related(number, plain) : plain;
    return new Step.Submit(
        number,
        "ns-0",
        "lq-" + (related ? number / RELATED % queues : dice.below(queues)),
        preempting ? shape.withPreemption(RandomRules.ofClass(dice)) : shape,
        dice.chance(preempting ? 30 : 70) ? 0 : dice.below(3),
        dice.below(20),
        dice.chance(2),
        dice.chance(5) ? 1 + dice.below(30) : 0,
        dice.chance(2),
        preempting && dice.chance(10));
  }

  /** A slice that may replace another one of its job, or a variant of a request. */
  private RequestShape related(int number, RequestShape shape) {
    int job = number / RELATED;
    if (pods == Pods.SLICES) {
      String replaces =
          dice.chance(30) ? "" : "w" + (job * RELATED + dice.below(number % RELATED + 1));
      return shape.withSlice(
          Optional.of(new JobSlice("job-" + job, "w" + number, replaces, job % 3 == 0)));
    }
    int place = number % RELATED;
    return shape
        .withPodSets(
            shape.podSets().stream()
                .map(podSet -> podSet.with(RandomShapes.inFlavor("f-" + place % flavors)))
                .toList())
        .withSlice(
            Optional.of(
                JobSlice.variant("job-" + job, "w" + number, new Variant(place, job % 3 > 0))));
  }

  private static PodSetRequest podSet(String name, int count, int spare, Map<String, Long> perPod) {
    return new PodSetRequest(
        name, count, spare, new TreeMap<>(perPod), NodeConstraints.ANYWHERE, "");
  }

  private Step cohort(int number) {
    return new Step.Declare(
        new SchedulerEvent.CohortChanged(
            new CohortSpec(
                "co-" + number,
                number == 0 || dice.chanceOfHalf() ? "" : "co-0",
                dice.chance(20) ? groups(true) : List.of(),
                weight(),
                protecting(QuotaRules.DEFAULT))));
  }

  private BigDecimal weight() {
    return weighted && dice.chanceOfHalf()
        ? new BigDecimal(dice.pick(new String[] {"0", "0.5", "2", "3"}))
        : BigDecimal.ONE;
  }

  private QuotaRules protecting(QuotaRules rules) {
    return preempting && dice.chance(30) ? rules.withPreemption(RandomRules.ofQueue(dice)) : rules;
  }

  private List<ResourceGroup> groups(boolean limited) {
    List<String> resources = dice.chance(70) ? List.of("cpu") : List.of("cpu", "memory");
    List<FlavorQuotas> quotas = new ArrayList<>();
    for (int i = 0; i < flavors; i++) {
      Map<String, Quota> each = new HashMap<>();
      resources.forEach(
          resource ->
              each.put(
                  resource,
                  new Quota(
                      dice.chance(80) ? 3 + dice.below(7) : dice.below(3),
                      limit(limited),
                      limit(limited))));
      quotas.add(new FlavorQuotas("f-" + i, each));
    }
    return List.of(new ResourceGroup(resources, quotas));
  }

  private long limit(boolean limited) {
    return limited && dice.chance(25) ? dice.below(4) : ResourceAmounts.UNLIMITED;
  }

  private Step queue(int number) {
    String cohort = dice.chance(70) ? "co-" + dice.below(2) : "";
    ClusterQueueSpec queue =
        new ClusterQueueSpec(
            "cq-" + number,
            cohort,
            groups(!cohort.isEmpty()),
            QueueingStrategy.BEST_EFFORT_FIFO,
            new LabelSelector.Requirements(List.of()),
            dice.chance(3) ? StopPolicy.HOLD : StopPolicy.NONE,
            false,
            preempting && dice.chance(70) ? policies() : PreemptionPolicies.NEVER,
            RandomRules.fungibility(dice),
            weight(),
            List.of(),
            List.of(),
            false,
            false,
            QueueRules.DEFAULT.withQuota(protecting(QuotaRules.DEFAULT)),
            Set.of());
    return new Step.Declare(
        new SchedulerEvent.ClusterQueueChanged(
            withGrace(dice.chance(80) ? backfilled(queue) : queue)));
  }

  private ClusterQueueSpec withGrace(ClusterQueueSpec queue) {
    return graces.chance(30) ? RandomRules.withGrace(queue, graces, SECONDS) : queue;
  }

  private PreemptionPolicies policies() {
    return new PreemptionPolicies(
        dice.pick(WithinClusterQueue.values()),
        dice.pick(ReclaimWithinCohort.values()),
        dice.chance(30),
        dice.chance(30) ? OptionalInt.of(dice.below(3)) : OptionalInt.empty());
  }
}
