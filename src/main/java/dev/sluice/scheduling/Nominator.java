package dev.sluice.scheduling;

import dev.sluice.model.Flavor;
import dev.sluice.model.FlavorMode;
import dev.sluice.queue.Demand;
import dev.sluice.queue.FlavorProgress;
import dev.sluice.queue.PendingItem;
import dev.sluice.queue.QueueState;
import dev.sluice.scheduling.Nominated.Search;
import dev.sluice.scheduling.flavor.Assignment;
import dev.sluice.scheduling.flavor.FlavorAssigner;
import dev.sluice.scheduling.flavor.Simulation;
import dev.sluice.scheduling.preemption.Preemptor;
import dev.sluice.scheduling.preemption.Victim;
import dev.sluice.scheduling.preemption.VictimSearch;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Finds flavors for a head and, where these take preemption, victims. */
final class Nominator {

  private final Map<String, Flavor> flavors;
  private final VictimSearch victims;
  private final long cycle;

  Nominator(Map<String, Flavor> flavors, VictimSearch victims, long cycle) {
    this.flavors = flavors;
    this.victims = victims;
    this.cycle = cycle;
  }

  /** Considers a head as quota stands; where its last search stopped is used up by that. */
  Nominated nominate(PendingItem head, QueueState queue) {
    FlavorProgress before = head.flavorProgress();
    int[] resume = before != null && before.counts(queue, cycle) ? before.last() : null;
    head.flavorProgress(null);
    Search search =
        new Search(
            Nominated.Resumed.at(resume),
            before == null || resume == null ? cycle : before.began(),
            before == null || before.queue() != queue ? 0 : before.walked(),
            before);
    Nominated found = consider(head, queue, resume, search);
    if (resume == null || found.succeeds() || found.walksOn()) {
      return found;
    }
    // A search that was resumed and found nothing starts over, so that no flavor goes unseen.
    return consider(head, queue, null, search.toTheEnd(cycle));
  }

  private Nominated consider(
      PendingItem head, QueueState queue, int @Nullable [] resume, Search search) {
    Simulation simulation = simulation(head, queue);
    return inFullOrInPart(
        head, queue, search, demand -> FlavorAssigner.assign(flavors, simulation, demand, resume));
  }

  /** Considers it once more, with the flavors it was nominated with, as quota stands now. */
  Nominated again(Nominated before) {
    Simulation simulation = simulation(before.item(), before.queue());
    return inFullOrInPart(
        before.item(),
        before.queue(),
        before.search(),
        demand ->
            FlavorAssigner.reassign(flavors, simulation, demand, before.assignment().chosen()));
  }

  /**
   * Considers it with all of its pods and, when that is in vain and it may start with fewer, with
   * as many as possible: by halving, as if whatever fits fitted with fewer, too (section 6, partial
   * admission).
   */
  private Nominated inFullOrInPart(
      PendingItem head, QueueState queue, Search search, Function<Demand, Assignment> assign) {
    Demand all = head.equivalenceClass().demand(queue);
    Nominated full = nominated(head, queue, assign.apply(all), search);
    if (all.steps() == 0 || full.succeeds()) {
      return full;
    }
    Nominated found = full;
    Assignment least = full.assignment();
    long from = 0;
    long to = all.steps() + 1;
    while (from < to) {
      long middle = (from + to) >>> 1;
      Nominated fewer = nominated(head, queue, assign.apply(all.reduced(middle)), search);
      if (fewer.succeeds()) {
        found = fewer;
        to = middle;
      } else {
        least = fewer.assignment();
        from = middle + 1;
      }
    }
    return found.succeeds() ? found : full.notEven(least);
  }

  private Nominated nominated(
      PendingItem head, QueueState queue, Assignment assignment, Search search) {
    return new Nominated(head, queue, assignment, victims(head, queue, assignment), search, null);
  }

  private Simulation simulation(PendingItem head, QueueState queue) {
    return new Simulation() {
      @Override
      public Result simulate(int pair, long amount) {
        return victims
            .find(Preemptor.forPair(head, queue, pair, amount))
            .map(found -> new Result(mode(found, queue), found.borrowLevel()))
            .orElseGet(
                () -> new Result(FlavorMode.NO_CANDIDATES, queue.node().borrowLevel(pair, amount)));
      }

      @Override
      public boolean triesBorrowing() {
        return victims.mayPreemptBorrowing(queue);
      }
    };
  }

  private static FlavorMode mode(VictimSearch.Found found, QueueState queue) {
    for (Victim victim : found.victims()) {
      if (victim.queue() == queue) {
        return FlavorMode.PREEMPT;
      }
    }
    return FlavorMode.RECLAIM;
  }

  private List<Victim> victims(PendingItem head, QueueState queue, Assignment assignment) {
    if (!assignment.needsPreemption()) {
      return List.of();
    }
    int size = assignment.usage().size();
    int[] pairs = new int[size];
    long[] amounts = new long[size];
    for (int i = 0; i < size; i++) {
      pairs[i] = assignment.usage().get(i).pair();
      amounts[i] = assignment.usage().get(i).amount();
    }
    Optional<VictimSearch.Found> found =
        victims.find(Preemptor.of(head, queue, pairs, amounts, assignment.needed()));
    return found.map(VictimSearch.Found::victims).orElse(List.of());
  }
}
