package dev.sluice.reference;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.FlavorQuotas;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Share;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Users;
import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;

/**
 * A made-up world of few queues with much quota, of which reservations keep most: many small
 * Workloads are held, wait for releases, and start one after another.
 */
final class HeldWorld {

  private static final int SECONDS = 600;

  private final Dice dice;
  private final boolean preempting;
  private final int flavors;
  private final int queues;
  private final boolean lends;

  private HeldWorld(long seed, boolean preempting) {
    this.dice = new Dice(seed);
    this.preempting = preempting;
    this.flavors = dice.chance(75) ? 1 : 2;
    this.queues = 1 + dice.below(3);
    this.lends = dice.chance(20);
  }

  /**
   * The steps of a world.
   *
   * @param preempting whether some queues preempt
   */
  static List<Step> steps(long seed, int count, boolean preempting) {
    return new HeldWorld(seed, preempting).make(count);
  }

  private List<Step> make(int count) {
    List<Step> steps = new ArrayList<>();
    steps.add(new Step.Declare(new SchedulerEvent.NamespaceChanged("ns-0", Map.of())));
    for (int i = 0; i < flavors; i++) {
      steps.add(
          new Step.Declare(
              new SchedulerEvent.FlavorChanged(
                  new Flavor("f-" + i, Map.of(), List.of(), List.of()))));
    }
    for (int i = 0; i < queues; i++) {
      steps.add(queue(i));
      for (int j = 0; j < 2; j++) {
        steps.add(
            new Step.Declare(
                new SchedulerEvent.LocalQueueChanged(
                    new LocalQueueSpec(
                        new LocalQueueId("ns-0", "lq-" + i + "-" + j),
                        "cq-" + i,
                        StopPolicy.NONE))));
      }
    }
    steps.add(reservations());
    int number = 0;
    while (steps.size() < count) {
      int thrown = dice.below(100);
      if (thrown < 35) {
        if (dice.chance(80)) {
          steps.add(bound(number));
        }
        steps.add(submit(number++));
      } else if (thrown < 60) {
        steps.add(dice.chance(30) ? new Step.Quiesce() : new Step.Cycle());
      } else if (thrown < 75) {
        steps.add(
            new Step.Answer(
                dice.below(10), dice.chance(90) ? Step.End.WRITTEN : dice.pick(Step.End.values())));
      } else if (thrown < 85) {
        steps.add(new Step.Finish(dice.below(10)));
      } else if (thrown < 88) {
        steps.add(new Step.Pass(dice.chance(20) ? 200 : 1 + dice.below(30)));
      } else if (thrown < 90) {
        steps.add(dice.chance(60) ? new Step.Release(dice.below(number + 1)) : queue(0));
      } else if (thrown < 92) {
        steps.add(dice.chance(30) ? reservations() : new Step.AnswerEviction(0, written()));
      } else if (thrown < 94) {
        steps.add(dice.chance(30) ? bound(dice.below(number + 1)) : new Step.Leave(dice.below(5)));
      } else {
        steps.add(dice.chanceOfHalf() ? new Step.Evict(dice.below(10)) : new Step.Cycle());
      }
    }
    return steps;
  }

  private static Step.EvictionEnd written() {
    return Step.EvictionEnd.WRITTEN;
  }

  private Step queue(int number) {
    ClusterQueueSpec queue =
        new ClusterQueueSpec(
            "cq-" + number,
            dice.chance(85) ? "co-0" : "",
            groups(),
            dice.chance(85) ? QueueingStrategy.BEST_EFFORT_FIFO : dice.pick(strategies()),
            new LabelSelector.Requirements(List.of()),
            StopPolicy.NONE,
            false,
            preempting && dice.chance(60) ? policies() : PreemptionPolicies.NEVER,
            FlavorFungibility.DEFAULT,
            List.of(),
            List.of());
    return new Step.Declare(new SchedulerEvent.ClusterQueueChanged(queue));
  }

  private static QueueingStrategy[] strategies() {
    return QueueingStrategy.values();
  }

  private PreemptionPolicies policies() {
    return new PreemptionPolicies(
        dice.pick(WithinClusterQueue.values()),
        dice.pick(ReclaimWithinCohort.values()),
        dice.chance(30),
        OptionalInt.empty());
  }

  private List<ResourceGroup> groups() {
    List<FlavorQuotas> quotas = new ArrayList<>();
    for (int i = 0; i < flavors; i++) {
      Map<String, Quota> each = new HashMap<>();
      each.put(
          "cpu",
          new Quota(
              5 + dice.below(12),
              dice.chance(15) ? dice.below(6) : ResourceAmounts.UNLIMITED,
              dice.chance(15) ? dice.below(6) : ResourceAmounts.UNLIMITED));
      quotas.add(new FlavorQuotas("f-" + i, each));
    }
    return List.of(new ResourceGroup(List.of("cpu"), quotas));
  }

  private Step bound(int number) {
    return new Step.Declare(
        new SchedulerEvent.RunBounded(
            new WorkloadId("uid-" + number, "ns-0", "w" + number),
            RunBound.of(Duration.ofSeconds(1 + dice.below(SECONDS)))));
  }

  private Step submit(int number) {
    RequestShape shape =
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1,
                    0,
                    new TreeMap<>(Map.of("cpu", 1L + dice.below(3))),
                    NodeConstraints.ANYWHERE,
                    "")));
    return new Step.Submit(
        number,
        "ns-0",
        "lq-" + dice.below(queues) + "-" + dice.below(2),
        shape,
        dice.chance(85) ? 0 : dice.below(3),
        dice.below(20),
        dice.chance(2),
        dice.chance(3) ? 1 + dice.below(30) : 0,
        dice.chance(2),
        false);
  }

  private Step reservations() {
    List<ReservedCapacity> kept = new ArrayList<>();
    for (int i = dice.chance(90) ? 1 + dice.below(2) : 0; i > 0; i--) {
      int at = dice.chanceOfHalf() ? 0 : dice.below(SECONDS);
      kept.add(
          new ReservedCapacity(
              "r-" + i,
              new Scope.OfQueue(
                  "cq-" + dice.below(queues),
                  List.of(new Share("f-" + dice.below(flavors), "cpu", 2 + dice.below(10)))),
              new Users(
                  Set.of(new LocalQueueId("ns-0", "lq-" + dice.below(queues) + "-1")), Set.of()),
              lends && dice.chanceOfHalf(),
              List.of(
                  new Occurrence(
                      Stage.START.plusSeconds(at),
                      Stage.START.plusSeconds(at + 100 + dice.below(SECONDS))))));
    }
    return new Step.Declare(new SchedulerEvent.ReservationsChanged(kept));
  }
}
