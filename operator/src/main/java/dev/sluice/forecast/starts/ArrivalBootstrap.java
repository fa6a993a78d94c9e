package dev.sluice.forecast.starts;

import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.runtimes.RunTimeEstimate.Basis;
import dev.sluice.forecast.starts.StartForecast.Arrival;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Draws arrivals of a play from those that were seen: blocks of successive ones, in a circle
 * (Politis and Romano 1992; docs/expected-starts.md#arrivals). Immutable.
 */
final class ArrivalBootstrap {

  /** Fewer arrivals say nothing of how often jobs come. */
  static final int LEAST = 50;

  /** Successive arrivals of a block: users submit series of alike jobs. */
  static final int BLOCK = 25;

  /** So many Workloads arrive in a play at most. */
  static final int PER_PLAY = 1_000;

  private final List<Arrival> seen;
  private final Instant now;

  /**
   * Nothing is drawn yet.
   *
   * @param seen arrivals in the order of their times. None is drawn unless enough of them are
   *     known, and unless of all that are drawn from the run times are declared or learned: limits
   *     alone would let jobs hold quota for far too long
   * @param now when what was seen ends
   */
  ArrivalBootstrap(List<Arrival> seen, Instant now) {
    List<Arrival> last =
        seen.subList(Math.max(0, seen.size() - StartForecast.MOST_ARRIVALS), seen.size());
    boolean known =
        last.size() >= LEAST
            && last.stream()
                .map(arrival -> arrival.runTime().basis())
                .allMatch(basis -> basis == Basis.DECLARED || basis == Basis.LEARNED);
    this.seen = known ? List.copyOf(last) : List.of();
    this.now = now;
  }

  /** Of how many arrivals is drawn; 0 if no job arrives in plays. */
  int size() {
    return seen.size();
  }

  /**
   * The arrivals of a play, in the order of their times: each as long after the one before as the
   * one that it is drawn from.
   *
   * @param random decides where blocks begin
   * @param end no arrival comes after it
   */
  List<Arrival> draw(SplittableRandom random, Instant end) {
    List<Arrival> drawn = new ArrayList<>();
    Instant at = now;
    while (!seen.isEmpty() && drawn.size() < PER_PLAY) {
      int first = random.nextInt(seen.size());
      for (int i = 0; i < BLOCK && drawn.size() < PER_PLAY; i++) {
        int place = (first + i) % seen.size();
        at = at.plus(gap(place));
        if (at.isAfter(end)) {
          return drawn;
        }
        drawn.add(like(seen.get(place), drawn.size() + 1, at));
      }
    }
    return drawn;
  }

  /** The time before an arrival; before the first one that which has passed since the last one. */
  private Duration gap(int place) {
    Duration gap =
        place == 0
            ? Duration.between(seen.getLast().workload().queuedAt(), now)
            : Duration.between(
                seen.get(place - 1).workload().queuedAt(), seen.get(place).workload().queuedAt());
    return gap.isNegative() ? Duration.ZERO : gap;
  }

  private static Arrival like(Arrival other, int number, Instant at) {
    PendingWorkload workload = other.workload();
    String name = "arrival-" + number;
    return new Arrival(
        new PendingWorkload(
            new WorkloadId(name, workload.id().namespace(), name),
            1,
            workload.queueName(),
            workload.shape().withoutSlice(),
            workload.priority(),
            at,
            at,
            Optional.empty(),
            false,
            Optional.empty(),
            false,
            workload.evictable()),
        other.runTime());
  }
}
