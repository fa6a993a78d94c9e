package dev.sluice.scheduling;

import dev.sluice.model.Flavor;
import dev.sluice.model.FlavorMode;
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
import org.jspecify.annotations.Nullable;

/** Finds flavors for a head and, where these take preemption, victims. */
final class Nominator {

  /** As many as no search walks: it is not to go on. */
  private static final int TO_THE_END = Integer.MAX_VALUE;

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
            before == null || before.queue() != queue ? 0 : before.walked());
    Nominated found = consider(head, queue, resume, search);
    if (resume == null || found.succeeds() || found.walksOn()) {
      return found;
    }
    // A search that was resumed and found nothing starts over, so that no flavor goes unseen.
    return consider(head, queue, null, new Search(search.from(), cycle, TO_THE_END));
  }

  private Nominated consider(
      PendingItem head, QueueState queue, int @Nullable [] resume, Search search) {
    Assignment assignment =
        FlavorAssigner.assign(
            flavors, simulation(head, queue), head.equivalenceClass().demand(queue), resume);
    return new Nominated(head, queue, assignment, victims(head, queue, assignment), search);
  }

  /** Considers it once more, with the flavors it was nominated with, as quota stands now. */
  Nominated again(Nominated before) {
    PendingItem head = before.item();
    QueueState queue = before.queue();
    Assignment assignment =
        FlavorAssigner.reassign(
            flavors,
            simulation(head, queue),
            head.equivalenceClass().demand(queue),
            before.assignment().chosen());
    return new Nominated(
        head, queue, assignment, victims(head, queue, assignment), before.search());
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
