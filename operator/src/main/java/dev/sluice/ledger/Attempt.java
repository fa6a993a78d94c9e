package dev.sluice.ledger;

import dev.sluice.ledger.AttemptObservation.Amount;
import dev.sluice.ledger.AttemptObservation.Ending;
import dev.sluice.ledger.AttemptObservation.Holder;
import dev.sluice.ledger.AttemptObservation.Outcome;
import dev.sluice.ledger.AttemptObservation.Reservation;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * One attempt of a Workload: from the reservation of quota to its release. A function of what was
 * observed, so that the same observations give the same rows, however often they are read, by
 * whomever and in which order.
 *
 * @param workload names the Workload, as {@link AttemptReader#key} does
 * @param number names the attempt among those of its Workload; the order is that of versions
 * @param version the last version of the Workload that spoke of this attempt
 * @param ending empty while quota is reserved
 * @param assumed whether nobody observed the end, so that who did may still replace it
 * @param parts the amounts; their order doesn't change
 */
record Attempt(
    String workload,
    int number,
    long version,
    Holder holder,
    Times times,
    Optional<Ending> ending,
    boolean assumed,
    List<Part> parts) {

  Attempt {
    parts = List.copyOf(parts);
  }

  /**
   * When what happened.
   *
   * @param reservedAt when quota was reserved
   * @param readyAt when the pods were ready; never before {@code reservedAt}
   * @param checkpointedAt when the job last saved its work
   */
  record Times(Instant reservedAt, Optional<Instant> readyAt, Optional<Instant> checkpointedAt) {}

  /**
   * An amount that was reserved for a time.
   *
   * @param to empty while it is reserved
   */
  record Part(Amount amount, Instant from, Optional<Instant> to) {

    private Part until(Instant end) {
      return to.isPresent() ? this : new Part(amount, from, Optional.of(later(end, from)));
    }

    /** The part before it ended because its attempt did. */
    private Part reopened(Instant end) {
      return from.isBefore(end) && to.filter(end::equals).isPresent()
          ? new Part(amount, from, Optional.empty())
          : this;
    }

    /** Nothing is used after the end: clocks of observers and of conditions differ. */
    private Part within(Instant end) {
      return new Part(amount, earlier(from, end), Optional.of(earlier(to.orElse(end), end)));
    }
  }

  /** Whether quota is reserved. */
  boolean isOpen() {
    return ending.isEmpty();
  }

  /** The same with other labels and parts. */
  Attempt with(Map<String, String> labels, List<Part> otherParts) {
    return new Attempt(
        workload, number, version, holder.with(labels), times, ending, assumed, otherParts);
  }

  /** Since when the work of the attempt is lost; empty if none of it is. */
  Optional<Instant> lostAt() {
    return ending
        .filter(end -> end.outcome() == Outcome.EVICTED)
        .flatMap(any -> times.readyAt())
        .map(ready -> later(ready, times.checkpointedAt().orElse(ready)));
  }

  /**
   * Whether an observation may speak of an attempt before the last one that is known, so that all
   * of the Workload have to be known.
   */
  boolean isAfter(AttemptObservation observation) {
    return observation.version() < version
        && observation.reservation().filter(reservation -> !isOf(reservation)).isPresent();
  }

  private boolean isOf(Reservation reservation) {
    return times.reservedAt().equals(reservation.reservedAt());
  }

  /**
   * The attempts that change because of an observation, which may have been told before, or be
   * older than what is known.
   *
   * @param known attempts of the Workload in the order of their versions: the last one, and all
   *     others if it {@link #isAfter} the observation
   */
  static List<Attempt> after(List<Attempt> known, AttemptObservation observation) {
    if (observation.ending().filter(end -> end.outcome() == Outcome.DELETED).isPresent()) {
      return gone(known, observation);
    }
    if (observation.reservation().isEmpty()) {
      return known.stream()
          .skip(Math.max(0, known.size() - 1))
          .filter(last -> last.isOpen() && last.version() < observation.version())
          .map(last -> last.assumed(observation.ending().orElseThrow()))
          .toList();
    }
    Reservation reservation = observation.reservation().get();
    int place = 0;
    while (place < known.size() && known.get(place).version() <= observation.version()) {
      place++;
    }
    Optional<Attempt> before = place > 0 ? Optional.of(known.get(place - 1)) : Optional.empty();
    Optional<Attempt> next =
        place < known.size() ? Optional.of(known.get(place)) : Optional.empty();
    if (before.filter(attempt -> attempt.isOf(reservation)).isPresent()) {
      return before.get().observed(reservation, observation).stream()
          .map(attempt -> attempt.endedBy(next))
          .toList();
    }
    if (next.filter(attempt -> attempt.isOf(reservation)).isPresent()) {
      return List.of(); // a later version of the same attempt is known
    }
    List<Attempt> changed = new ArrayList<>(2);
    Attempt begun =
        begun(
            known.stream().mapToInt(Attempt::number).max().orElse(0) + 1, reservation, observation);
    Optional<Attempt> cut = before.filter(attempt -> attempt.reaches(reservation.reservedAt()));
    if (cut.isPresent()) {
      // its end wasn't seen; it ended before the next one began
      changed.add(cut.get().endedBy(Optional.of(begun)));
      Optional<Ending> moved = cut.get().ending();
      if (begun.isOpen() && moved.isPresent()) {
        begun = begun.assumed(moved.get());
      }
    }
    changed.add(begun.endedBy(next));
    return changed;
  }

  /** A Workload doesn't exist any more, so that its last attempt has ended. */
  private static List<Attempt> gone(List<Attempt> known, AttemptObservation observation) {
    Ending ending = observation.ending().orElseThrow();
    List<Attempt> changed = new ArrayList<>(2);
    if (observation.reservation().isPresent()) {
      changed.addAll(after(known, observation.withoutEnding()));
    }
    Stream.concat(
            changed.stream(),
            known.stream()
                .filter(old -> changed.stream().noneMatch(each -> each.number() == old.number())))
        .max(Comparator.comparingLong(Attempt::version))
        .filter(last -> last.isLater(ending))
        .ifPresent(
            last -> {
              changed.remove(last);
              changed.add(last.assumed(ending));
            });
    return changed;
  }

  /** Whether the attempt is open, or somebody else noticed the deletion of its Workload later. */
  private boolean isLater(Ending otherEnding) {
    return ending
        .map(
            end ->
                end.outcome() == Outcome.DELETED
                    && end.at().isAfter(later(otherEnding.at(), times.reservedAt())))
        .orElse(true);
  }

  /** Whether an attempt may have lasted until the next one began, as far as is known. */
  private boolean reaches(Instant begin) {
    return ending
        .map(end -> assumed && (end.at().isAfter(begin) || end.outcome() == Outcome.DELETED))
        .orElse(true);
  }

  /** An attempt that ends when the next one begins, if that is all that is known of its end. */
  private Attempt endedBy(Optional<Attempt> next) {
    return next.map(attempt -> attempt.times().reservedAt())
        .filter(this::reaches)
        .map(
            begin ->
                assumed(
                    new Ending(
                        ending.map(end -> earlier(end.at(), begin)).orElse(begin),
                        Outcome.EVICTED,
                        "")))
        .orElse(this);
  }

  private static Attempt begun(
      int number, Reservation reservation, AttemptObservation observation) {
    Attempt begun =
        new Attempt(
                observation.workload(),
                number,
                observation.version(),
                reservation.holder(),
                new Times(reservation.reservedAt(), Optional.empty(), Optional.empty()),
                Optional.empty(),
                false,
                List.of())
            .with(reservation, reservation.reservedAt(), observation.version());
    return observation.ending().map(end -> begun.ended(end, false)).orElse(begun);
  }

  /** What a later version says of the attempt: empty if it is nothing new. */
  private Optional<Attempt> observed(Reservation reservation, AttemptObservation observation) {
    boolean ends = observation.ending().isPresent();
    if (observation.version() == version || ends && !isOpen() && !assumed) {
      return Optional.empty();
    }
    Attempt open = reopened();
    if (ends) {
      // what a Workload says at its end says nothing about the time before
      return Optional.of(
          new Attempt(
                  workload,
                  number,
                  observation.version(),
                  holder,
                  times(reservation, true),
                  Optional.empty(),
                  false,
                  open.parts())
              .ended(observation.ending().get(), false));
    }
    // quota that is reserved again within the second in which it was released was never released
    boolean lasted = ending.filter(end -> !end.at().isAfter(times.reservedAt())).isEmpty();
    Attempt changed =
        open.with(
            reservation,
            lasted ? observation.observedAt() : times.reservedAt(),
            observation.version());
    return Optional.of(ending.filter(any -> assumed).map(changed::assumed).orElse(changed));
  }

  /** The attempt before it ended. */
  private Attempt reopened() {
    if (isOpen()) {
      return this;
    }
    Instant end = ending.get().at();
    return new Attempt(
        workload,
        number,
        version,
        holder,
        times,
        Optional.empty(),
        false,
        parts.stream().map(part -> part.reopened(end)).toList());
  }

  /** Amounts that differ do so from a time on. */
  private Attempt with(Reservation reservation, Instant observedAt, long newVersion) {
    Instant since = latest(observedAt);
    List<Part> result = new ArrayList<>(parts.size() + reservation.amounts().size());
    List<Amount> added = new ArrayList<>(reservation.amounts());
    for (Part part : parts) {
      boolean goesOn = part.to().isEmpty() && added.remove(part.amount());
      result.add(goesOn ? part : part.until(since));
    }
    for (Amount amount : added) {
      result.add(new Part(amount, since, Optional.empty()));
    }
    return new Attempt(
        workload,
        number,
        newVersion,
        // the rows of labels are written once
        reservation.holder().with(holder.labels()),
        times(reservation, false),
        ending,
        assumed,
        result);
  }

  /**
   * A time, but none before another change of amounts: no time is counted twice when the clock of
   * an observer goes back, or that of another one is behind.
   */
  private Instant latest(Instant time) {
    Instant latest = later(time, times.reservedAt());
    for (Part part : parts) {
      latest = later(latest, part.to().orElse(part.from()));
    }
    return latest;
  }

  private Times times(Reservation reservation, boolean ends) {
    Optional<Instant> ready =
        reservation
            .readyAt()
            .map(at -> later(at, times.reservedAt()))
            .or(() -> reservation.wasReady() || ends ? times.readyAt() : Optional.empty());
    return new Times(times.reservedAt(), ready, reservation.checkpointedAt());
  }

  /** The same with an end that nobody observed. */
  private Attempt assumed(Ending newEnding) {
    return reopened().ended(newEnding, true);
  }

  private Attempt ended(Ending newEnding, boolean isAssumed) {
    Instant at = later(newEnding.at(), times.reservedAt());
    return new Attempt(
        workload,
        number,
        version,
        holder,
        new Times(
            times.reservedAt(),
            times.readyAt().filter(ready -> !ready.isAfter(at)),
            times.checkpointedAt()),
        Optional.of(new Ending(at, newEnding.outcome(), newEnding.reason())),
        isAssumed,
        parts.stream().map(part -> part.within(at)).toList());
  }

  static Instant later(Instant a, Instant b) {
    return a.isAfter(b) ? a : b;
  }

  static Instant earlier(Instant a, Instant b) {
    return a.isBefore(b) ? a : b;
  }
}
