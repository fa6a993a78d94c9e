package dev.sluice.reference;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Share;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Users;
import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A made-up world with reservations and windows: they come, change and go; most runs are bound. */
final class ReservedWorld {

  private static final int SECONDS = 900;

  private final Dice dice;

  /** For times to save work: what else is made up doesn't depend on it. */
  private final Dice graces;

  /** Whether windows are of nodes, too. */
  private final boolean ofNodes;

  private ReservedWorld(long seed, boolean ofNodes) {
    this.dice = new Dice(seed);
    this.graces = new Dice(~seed);
    this.ofNodes = ofNodes;
  }

  /** The steps of a world, with reservations in between. */
  static List<Step> steps(long seed, List<Step> world) {
    return new ReservedWorld(seed, false).weave(world);
  }

  /** The steps of a world whose pods are placed, with windows of nodes in between. */
  static List<Step> placed(long seed, List<Step> world) {
    return new ReservedWorld(seed, true).weave(world);
  }

  private List<Step> weave(List<Step> world) {
    List<Step> steps = new ArrayList<>();
    for (Step step : world) {
      if (dice.chance(6)) {
        steps.add(new Step.Declare(reservations()));
      } else if (dice.chance(10)) {
        steps.add(new Step.Pass(dice.chance(30) ? 200 : 1 + dice.below(40)));
      }
      if (step instanceof Step.Submit submit && dice.chance(75)) {
        steps.add(bound(submit));
      }
      steps.add(withGrace(step));
    }
    return steps;
  }

  private Step withGrace(Step step) {
    return step instanceof Step.Declare(SchedulerEvent.ClusterQueueChanged(var queue))
            && graces.chance(50)
        ? new Step.Declare(
            new SchedulerEvent.ClusterQueueChanged(RandomRules.withGrace(queue, graces, SECONDS)))
        : step;
  }

  private Step bound(Step.Submit submit) {
    WorkloadId id =
        new WorkloadId("uid-" + submit.number(), submit.namespace(), "w" + submit.number());
    return new Step.Declare(
        new SchedulerEvent.RunBounded(
            id, RunBound.of(Duration.ofSeconds(1 + dice.below(SECONDS / 2)))));
  }

  private SchedulerEvent reservations() {
    List<ReservedCapacity> kept = new ArrayList<>();
    for (int i = dice.below(4); i > 0; i--) {
      boolean window = dice.chance(ofNodes ? 70 : 20);
      Scope scope = window ? underMaintenance() : queue();
      kept.add(
          new ReservedCapacity(
              "r-" + i,
              scope,
              window ? Users.NOBODY : users(),
              !window && dice.chance(30),
              occurrences()));
    }
    return new SchedulerEvent.ReservationsChanged(kept);
  }

  private Scope underMaintenance() {
    return ofNodes && dice.chance(85)
        ? new Scope.OfNodes(RandomNodes.some(dice))
        : new Scope.OfFlavors(Set.of("f-" + dice.below(3)));
  }

  private Scope queue() {
    List<Share> shares = new ArrayList<>();
    shares.add(new Share("f-" + dice.below(2), "cpu", 1 + dice.below(5)));
    if (dice.chance(30)) {
      shares.add(new Share("f-" + dice.below(2), "memory", 1 + dice.below(5)));
    }
    return new Scope.OfQueue("cq-" + dice.below(3), shares);
  }

  private Users users() {
    LocalQueueId queue = new LocalQueueId("ns-" + dice.below(2), "lq-" + dice.below(3));
    return switch (dice.below(3)) {
      case 0 -> new Users(Set.of(queue), Set.of());
      case 1 -> new Users(Set.of(), Set.of((long) dice.below(3)));
      default -> new Users(Set.of(queue), Set.of(0L, 1L));
    };
  }

  private List<Occurrence> occurrences() {
    List<Occurrence> occurrences = new ArrayList<>();
    int at = dice.below(SECONDS);
    for (int i = 1 + dice.below(3); i > 0; i--) {
      int end = at + 1 + dice.below(SECONDS / 3);
      occurrences.add(new Occurrence(time(at), time(end)));
      at = end + 1 + dice.below(SECONDS / 3);
    }
    return occurrences;
  }

  private static Instant time(int seconds) {
    return Stage.START.plusSeconds(seconds);
  }
}
