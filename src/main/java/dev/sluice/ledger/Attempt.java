package dev.sluice.ledger;

import dev.sluice.ledger.AttemptObservation.Amount;
import dev.sluice.ledger.AttemptObservation.Ending;
import dev.sluice.ledger.AttemptObservation.Holder;
import dev.sluice.ledger.AttemptObservation.Outcome;
import dev.sluice.ledger.AttemptObservation.Reservation;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One attempt of a Workload: from the reservation of quota to its release. A function of what was
 * observed, so that the same observations give the same rows, however often they are read.
 *
 * @param uid the UID of the Workload
 * @param number 1 for its first attempt
 * @param version the version of the Workload that was observed last
 * @param ending empty while quota is reserved
 * @param parts the amounts; their order doesn't change
 */
record Attempt(
    String uid,
    int number,
    long version,
    Holder holder,
    Times times,
    Optional<Ending> ending,
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
    return new Attempt(uid, number, version, holder.with(labels), times, ending, otherParts);
  }

  /** Since when the work of the attempt is lost; empty if none of it is. */
  Optional<Instant> lostAt() {
    return ending
        .filter(end -> end.outcome() == Outcome.EVICTED)
        .flatMap(any -> times.readyAt())
        .map(ready -> later(ready, times.checkpointedAt().orElse(ready)));
  }

  /**
   * The attempts that change when an observation follows.
   *
   * @param last the last attempt of the Workload that is known
   */
  static List<Attempt> after(Optional<Attempt> last, AttemptObservation observation) {
    if (last.filter(known -> observation.version() <= known.version()).isPresent()) {
      return List.of();
    }
    Optional<Attempt> open = last.filter(Attempt::isOpen);
    if (observation.reservation().isEmpty()) {
      return open.stream().map(attempt -> attempt.ended(observation)).toList();
    }
    Reservation reservation = observation.reservation().get();
    boolean same =
        last.filter(known -> known.times().reservedAt().equals(reservation.reservedAt()))
            .isPresent();
    if (open.isPresent() && same) {
      return List.of(open.get().changed(reservation, observation).ended(observation));
    }
    if (same && observation.ending().isPresent()) {
      return List.of(); // a later version of a Workload that has finished
    }
    List<Attempt> changed = new ArrayList<>(2);
    // its end wasn't seen; it ended before the next one began
    open.ifPresent(
        attempt ->
            changed.add(
                attempt.ended(
                    new Ending(reservation.reservedAt(), Outcome.EVICTED, ""),
                    observation.version())));
    changed.add(
        begun(last.map(Attempt::number).orElse(0) + 1, reservation, observation)
            .ended(observation));
    return changed;
  }

  private static Attempt begun(
      int number, Reservation reservation, AttemptObservation observation) {
    return new Attempt(
            observation.uid(),
            number,
            observation.version(),
            reservation.holder(),
            new Times(reservation.reservedAt(), Optional.empty(), Optional.empty()),
            Optional.empty(),
            List.of())
        .with(reservation, reservation.reservedAt(), observation.version());
  }

  /** Amounts that differ do so from the time of the observation on. */
  private Attempt changed(Reservation reservation, AttemptObservation observation) {
    if (observation.ending().isPresent()) {
      // what a Workload says at its end says nothing about the time before
      return new Attempt(
          uid, number, observation.version(), holder, times(reservation, true), ending, parts);
    }
    return with(reservation, observation.observedAt(), observation.version());
  }

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
        uid,
        number,
        newVersion,
        // the rows of labels are written once
        reservation.holder().with(holder.labels()),
        times(reservation, false),
        ending,
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

  private Attempt ended(AttemptObservation observation) {
    return observation.ending().map(end -> ended(end, observation.version())).orElse(this);
  }

  private Attempt ended(Ending observedEnding, long newVersion) {
    Instant at = later(observedEnding.at(), times.reservedAt());
    return new Attempt(
        uid,
        number,
        newVersion,
        holder,
        new Times(
            times.reservedAt(),
            times.readyAt().filter(ready -> !ready.isAfter(at)),
            times.checkpointedAt()),
        Optional.of(new Ending(at, observedEnding.outcome(), observedEnding.reason())),
        parts.stream().map(part -> part.within(at)).toList());
  }

  private static Instant later(Instant a, Instant b) {
    return a.isAfter(b) ? a : b;
  }

  private static Instant earlier(Instant a, Instant b) {
    return a.isBefore(b) ? a : b;
  }
}
