package dev.sluice.ledger;

import dev.sluice.ledger.Attempt.Part;
import dev.sluice.ledger.AttemptObservation.Ending;
import dev.sluice.ledger.Ledger.Use;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Tells a listener what is used since a time, while it is used (docs/ledger.md#metrics): what open
 * attempts used by the last look at them, and all that others used when they ended. What was told
 * once isn't told again; where it was too much, because an end was seen late, less is told later.
 * Not thread-safe.
 */
final class UsageTally {

  /** What is told separately. */
  record Series(String clusterQueue, String flavor, String resource) {}

  private static final Use NOTHING = new Use(0, 0, 0, 0);

  private final Instant since;
  private final Ledger.Listener listener;
  private final Map<Series, Use> ended = new HashMap<>();
  private final Map<Series, Use> told = new HashMap<>();
  private Map<Series, Use> open = Map.of();
  private Instant lookedAt;

  /**
   * Nothing is used so far.
   *
   * @param since from when on use counts
   */
  UsageTally(Instant since, Ledger.Listener listener) {
    this.since = since;
    this.lookedAt = since;
    this.listener = listener;
  }

  /** From when on use counts. */
  Instant since() {
    return since;
  }

  /** Until when the use of open attempts is told. */
  Instant lookedAt() {
    return lookedAt;
  }

  /** An attempt ended. Its work may have been lost before use began to count: that is told, too. */
  void ended(Attempt attempt) {
    for (Part part : attempt.parts()) {
      Series series =
          new Series(
              attempt.holder().clusterQueue(), part.amount().flavor(), part.amount().resource());
      Use counted = use(attempt, part, lookedAt(attempt, part));
      Use before = new Use(counted.reserved(), counted.run(), counted.waited(), 0);
      open = new HashMap<>(open);
      open.computeIfPresent(series, (any, use) -> sum(use, before, -1));
      ended.merge(
          series,
          use(attempt, part, part.to().orElse(part.from())),
          (all, more) -> sum(all, more, 1));
      tell(series);
    }
  }

  /**
   * All open attempts were looked at.
   *
   * @param present what they used from {@link #since} to {@code now}
   */
  void open(Map<Series, Use> present, Instant now) {
    open = present;
    lookedAt = now;
    Set<Series> all = new HashSet<>(told.keySet()); // what ended may have been told short
    all.addAll(present.keySet());
    all.forEach(this::tell);
  }

  /**
   * Forgets what was told of ClusterQueues that are gone and of which nothing is open: it ended,
   * and isn't told again. What such a queue uses if it comes back is told as more.
   *
   * @return how many series were forgotten
   */
  int forgetRemoved(Predicate<String> exists) {
    int before = told.size();
    told.keySet()
        .removeIf(series -> !open.containsKey(series) && !exists.test(series.clusterQueue()));
    ended.keySet().retainAll(told.keySet());
    return before - told.size();
  }

  private void tell(Series series) {
    Use all = sum(ended.getOrDefault(series, NOTHING), open.getOrDefault(series, NOTHING), 1);
    Use before = told.getOrDefault(series, NOTHING);
    Use more =
        new Use(
            Math.max(0, all.reserved() - before.reserved()),
            Math.max(0, all.run() - before.run()),
            Math.max(0, all.waited() - before.waited()),
            Math.max(0, all.lost() - before.lost()));
    if (more.equals(NOTHING)) {
      return;
    }
    told.put(series, sum(before, more, 1));
    listener.used(series.clusterQueue(), series.flavor(), series.resource(), more);
  }

  /** Until when a part counted at the last look: it may have ended before that, as is known now. */
  private Instant lookedAt(Attempt attempt, Part part) {
    Optional<Instant> endedAt = attempt.ending().map(Ending::at);
    return part.to()
        .filter(to -> endedAt.filter(to::isBefore).isPresent())
        .filter(lookedAt::isAfter)
        .orElse(lookedAt);
  }

  /** What a part was used from {@link #since} to a time; work is lost only by the end. */
  private Use use(Attempt attempt, Part part, Instant to) {
    Optional<Instant> ready = attempt.times().readyAt();
    double amount = part.amount().amount();
    Instant from = Attempt.later(part.from(), since);
    double reserved = amount * millis(from, to);
    double run = ready.map(at -> amount * millis(Attempt.later(at, from), to)).orElse(0.0);
    double lost =
        attempt.lostAt().map(at -> amount * millis(Attempt.later(at, part.from()), to)).orElse(0.0);
    return new Use(reserved, run, reserved - run, lost);
  }

  private static long millis(Instant from, Instant to) {
    return Math.max(0, Duration.between(from, to).toMillis());
  }

  private static Use sum(Use use, Use other, int sign) {
    return new Use(
        use.reserved() + sign * other.reserved(),
        use.run() + sign * other.run(),
        use.waited() + sign * other.waited(),
        use.lost() + sign * other.lost());
  }
}
