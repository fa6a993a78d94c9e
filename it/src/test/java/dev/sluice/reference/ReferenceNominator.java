package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.PreemptionRules.PreemptionTraits;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.ReplacedSlice;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.reference.ReferenceAssigner.Result;
import dev.sluice.reference.ReferencePreemption.Preemptor;
import dev.sluice.reference.ReferencePreemption.Victim;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Considers a Workload as quota stands: its flavors and victims, and with how many pods. */
final class ReferenceNominator {

  private final ReferenceEngine.Rules rules;
  private final ReferenceReservations reservations;

  ReferenceNominator(ReferenceEngine.Rules rules, ReferenceReservations reservations) {
    this.rules = rules;
    this.reservations = reservations;
  }

  /** With flavors of which nothing is kept; if there are none, it is held for what is kept. */
  ReferenceNominated consider(
      ReferenceEntry entry,
      ClusterQueueSpec queue,
      ReferenceSnapshot snapshot,
      Map<ReferenceAssigner.Progress, Integer> resume,
      Map<ReferenceAssigner.Place, String> only) {
    if (!only.isEmpty()) {
      return considerNodes(entry, queue, snapshot, resume, only);
    }
    ReferenceNominated first = considerNodes(entry, queue, snapshot, resume, only);
    ReferenceNominated found = first;
    Set<String> closed = new HashSet<>();
    while (!found.inVain()) {
      Set<String> kept =
          reservations.keptFlavors(
              entry,
              queue.name(),
              found.result(),
              snapshot.tree(),
              found.victims().stream()
                  .map(victim -> victim.holder().id().uid())
                  .collect(Collectors.toSet()));
      if (kept.isEmpty()) {
        return found;
      }
      closed.addAll(kept);
      found =
          new ReferenceNominator(rules.without(closed), reservations)
              .considerNodes(entry, queue, snapshot, resume, only);
    }
    return first;
  }

  /** Away from the nodes that are closed to it; if only they have room, it is held for them. */
  private ReferenceNominated considerNodes(
      ReferenceEntry entry,
      ClusterQueueSpec queue,
      ReferenceSnapshot snapshot,
      Map<ReferenceAssigner.Progress, Integer> resume,
      Map<ReferenceAssigner.Place, String> only) {
    rules.nodes().closed = reservations.closedTo(entry, queue);
    ReferenceNominated open = considerOpen(entry, queue, snapshot, resume, only);
    boolean anyClosed = !rules.nodes().closed.isEmpty();
    rules.nodes().closed = Set.of();
    return open.inVain() && anyClosed ? considerOpen(entry, queue, snapshot, resume, only) : open;
  }

  private ReferenceNominated considerOpen(
      ReferenceEntry entry,
      ClusterQueueSpec queue,
      ReferenceSnapshot snapshot,
      Map<ReferenceAssigner.Progress, Integer> resume,
      Map<ReferenceAssigner.Place, String> only) {
    Function<RequestShape, ReferenceNominated> attempt =
        shape -> attempt(entry, queue, snapshot, resume, only, shape);
    ReferenceNominated full = attempt.apply(entry.shape());
    ReferenceReduction reduction = new ReferenceReduction(entry.shape());
    if (!full.inVain() || !reduction.isPossible()) {
      return full;
    }
    return reduction
        .most(attempt, nominated -> !nominated.inVain())
        .orElseGet(() -> full.notEven(attempt.apply(reduction.least()).result()));
  }

  private ReferenceNominated attempt(
      ReferenceEntry entry,
      ClusterQueueSpec queue,
      ReferenceSnapshot snapshot,
      Map<ReferenceAssigner.Progress, Integer> resume,
      Map<ReferenceAssigner.Place, String> only,
      RequestShape shape) {
    ReferencePlacer placer = rules.placer(queue);
    Result found = assigner(entry, queue, snapshot, resume, only, rules).assign(shape);
    Result result = placer.complete(snapshot, shape, found);
    Predicate<ReferenceSnapshot> hasPlaces =
        world ->
            rules.nodes().flaw == TopologyFlaw.TARGETS_FOR_QUOTA_ONLY
                || placer.places(world, shape, found).isPresent();
    List<Victim> victims =
        result.mode().preempts() && !isDelayed(entry, queue, snapshot)
            ? leastWork(
                snapshot,
                queue,
                order ->
                    victims(
                        snapshot,
                        preemptor(entry, queue, snapshot),
                        result.usage(),
                        result.needed(),
                        rules,
                        hasPlaces,
                        order))
            : List.of();
    ReferenceSnapshot after = snapshot.without(victims.stream().map(Victim::holder).toList());
    return new ReferenceNominated(
        entry,
        queue,
        victims.isEmpty()
            ? result
            : placer.places(after, shape, found).map(result::with).orElse(result),
        victims,
        Optional.of(after.allUses(rules.nodes()))
            .filter(uses -> placer.isRestricted(after, shape, found)),
        after.allUses(rules.nodes()));
  }

  /** Whom to evict: found by time, or by work if less is lost then. */
  private static List<Victim> leastWork(
      ReferenceSnapshot snapshot,
      ClusterQueueSpec queue,
      Function<Comparator<ReferenceHolder>, List<Victim>> find) {
    List<Victim> byTime = find.apply(ReferenceVictimOrder.BY_TIME);
    if (byTime.isEmpty() || !snapshot.savesWork(queue.name())) {
      return byTime;
    }
    ReferenceVictimOrder order = new ReferenceVictimOrder(snapshot, queue.name());
    List<Victim> byWork = find.apply(order.byWork());
    return !byWork.isEmpty() && order.work(byWork) < order.work(byTime) ? byWork : byTime;
  }

  private static List<Victim> victims(
      ReferenceSnapshot snapshot,
      Preemptor preemptor,
      Map<FlavorResource, Long> usage,
      Set<FlavorResource> needed,
      ReferenceEngine.Rules rules,
      Predicate<ReferenceSnapshot> hasPlaces,
      Comparator<ReferenceHolder> order) {
    return rules
        .sharing()
        .map(
            sharing ->
                new ReferenceFairPreemption(
                        sharing, snapshot, preemptor, usage, needed, hasPlaces, order)
                    .victims())
        .orElseGet(
            () ->
                new ReferencePreemption(snapshot, preemptor, usage, needed, hasPlaces, order)
                    .victims());
  }

  /** Whether it has to wait before it preempts anybody. */
  private static boolean isDelayed(
      ReferenceEntry entry, ClusterQueueSpec queue, ReferenceSnapshot world) {
    return entry
        .preemptsFrom(world.tree().preemptionRules(queue.name()))
        .filter(world.now()::isBefore)
        .isPresent();
  }

  private static Preemptor preemptor(
      ReferenceEntry entry, ClusterQueueSpec queue, ReferenceSnapshot snapshot) {
    Set<String> spared = new HashSet<>(snapshot.spared().apply(entry.id.uid()));
    entry.replaced.map(ReplacedSlice::uid).ifPresent(spared::add);
    return new Preemptor(
        queue,
        entry.workload().priority(),
        entry.workload().queuedAt(),
        spared,
        entry.workload().shape().preemption().exempt(),
        entry.workload().shape().preemption().traits().orElse(PreemptionTraits.NONE));
  }

  static ReferenceAssigner assigner(
      ReferenceEntry entry,
      ClusterQueueSpec queue,
      ReferenceSnapshot snapshot,
      Map<ReferenceAssigner.Progress, Integer> resume,
      Map<ReferenceAssigner.Place, String> only,
      ReferenceEngine.Rules rules) {
    ReferenceAssigner.Simulation simulation =
        (pair, amount) ->
            isDelayed(entry, queue, snapshot)
                ? List.of()
                : victims(
                    snapshot,
                    preemptor(entry, queue, snapshot),
                    Map.of(pair, amount),
                    Set.of(pair),
                    rules,
                    world -> true,
                    ReferenceVictimOrder.BY_TIME);
    return new ReferenceAssigner(
        snapshot.tree(),
        queue,
        rules,
        resume,
        only,
        rules.preempting() ? Optional.of(simulation) : Optional.empty(),
        only.isEmpty()
            ? ReferenceCosts.waitsUntil(queue, entry.workload()).filter(snapshot.now()::isBefore)
            : Optional.empty(),
        wanted -> rules.costs().expected(snapshot, queue.name(), wanted));
  }
}
