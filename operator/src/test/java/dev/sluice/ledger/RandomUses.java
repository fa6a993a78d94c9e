package dev.sluice.ledger;

import dev.sluice.ledger.AttemptObservation.Amount;
import dev.sluice.ledger.AttemptObservation.Ending;
import dev.sluice.ledger.AttemptObservation.Holder;
import dev.sluice.ledger.AttemptObservation.Outcome;
import dev.sluice.ledger.AttemptObservation.Reservation;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * Workloads that get and lose quota at random, what is observed of them, and what they use: the
 * integral is added up state by state, without attempts and rows.
 */
final class RandomUses {

  static final Instant BEGIN = Instant.parse("2026-03-01T00:00:00Z");

  /** How long a world lasts, about. */
  private static final Duration LENGTH = Duration.ofDays(10);

  private final Random random;

  /** Whether an attempt keeps its amounts: when they change is known by who observed it only. */
  private final boolean steady;

  private final List<AttemptObservation> observations = new ArrayList<>();
  private final List<Use> uses = new ArrayList<>();
  private final List<State> states = new ArrayList<>();
  private Instant now = BEGIN;
  private long version = 1;

  /**
   * A constant use.
   *
   * @param lost whether an eviction ended the attempt later
   */
  record Use(String queue, Amount amount, Instant from, Instant to, boolean ready, boolean lost) {

    /** The nodes of the tree that contain it. */
    List<String> nodes() {
      return List.of(queue, queue.equals("queue-2") ? "rest" : "team", "root");
    }

    /** Amount times milliseconds within a span. */
    BigDecimal within(Instant since, Instant until) {
      long begin = Math.max(from.toEpochMilli(), since.toEpochMilli());
      long end = Math.min(to.toEpochMilli(), until.toEpochMilli());
      return BigDecimal.valueOf(amount.amount())
          .multiply(BigDecimal.valueOf(Math.max(0, end - begin)));
    }
  }

  private static final class State {
    private final String uid;
    private long version;
    private boolean finished;
    private boolean reserved;
    private Instant reservedAt = BEGIN;
    private Instant since = BEGIN;
    private Optional<Instant> readyAt = Optional.empty();
    private Optional<Instant> checkpointedAt = Optional.empty();
    private List<Amount> amounts = List.of();
    private final List<Use> ofAttempt = new ArrayList<>();

    State(String uid) {
      this.uid = uid;
    }

    String queue() {
      return "queue-" + Math.floorMod(uid.hashCode(), 3);
    }

    /** The first two queues are in one cohort below the root, the third is in another one. */
    String cohortPath() {
      return queue().equals("queue-2") ? "root/rest" : "root/team";
    }
  }

  RandomUses(Random random, int workloads, int steps) {
    this(random, workloads, steps, false);
  }

  /** What happens at random; the amounts of an attempt don't change if {@code steady}. */
  RandomUses(Random random, int workloads, int steps, boolean steady) {
    this.random = random;
    this.steady = steady;
    for (int i = 0; i < workloads; i++) {
      states.add(new State("uid-" + i));
    }
    long longestPause = LENGTH.multipliedBy(2).toMillis() / steps;
    for (int i = 0; i < steps; i++) {
      // sometimes two things happen in one millisecond
      now = now.plusMillis(random.nextInt(4) == 0 ? 0 : random.nextLong(longestPause));
      step(states.get(random.nextInt(states.size())));
    }
    for (State state : states) {
      // what still has quota is counted until now
      charge(state, false);
    }
  }

  private void step(State state) {
    if (state.finished) {
      return;
    }
    if (!state.reserved) {
      state.reserved = true;
      state.reservedAt = now;
      state.since = now;
      state.readyAt = Optional.empty();
      state.amounts = amounts();
      observe(state, Optional.empty());
      return;
    }
    switch (random.nextInt(7)) {
      case 0, 1 -> {
        if (state.readyAt.isEmpty()) {
          account(state);
          state.readyAt = Optional.of(now);
          observe(state, Optional.empty());
        }
      }
      case 2 -> {
        if (!steady) {
          account(state);
          state.amounts = amounts();
        }
        observe(state, Optional.empty());
      }
      case 3 -> end(state, Outcome.EVICTED);
      case 4 -> {
        end(state, random.nextBoolean() ? Outcome.SUCCEEDED : Outcome.FAILED);
        state.finished = true;
      }
      case 5 -> {
        account(state);
        state.checkpointedAt = Optional.of(now);
        observe(state, Optional.empty());
      }
      default -> {
        end(state, Outcome.DELETED);
        state.finished = true;
      }
    }
  }

  private List<Amount> amounts() {
    List<Amount> amounts = new ArrayList<>();
    amounts.add(
        new Amount(
            "flavor-" + random.nextInt(2), "cpu", random.nextInt(1, 9_000), baseline(random)));
    if (random.nextBoolean()) {
      // products with times are larger than a long
      amounts.add(new Amount("flavor-0", "memory", random.nextLong(1, 1L << 50)));
    }
    return amounts;
  }

  private static Optional<Baseline> baseline(Random random) {
    return random.nextBoolean()
        ? Optional.empty()
        : Optional.of(
            new Baseline(
                "flavor-" + random.nextInt(2), BigDecimal.valueOf(random.nextInt(1, 40), 1)));
  }

  private void end(State state, Outcome outcome) {
    charge(state, outcome == Outcome.EVICTED);
    observe(state, Optional.of(new Ending(now, outcome, "why")));
    state.reserved = false;
  }

  /** Ends what was used up to now. */
  private void account(State state) {
    for (Amount amount : state.amounts) {
      state.ofAttempt.add(
          new Use(state.queue(), amount, state.since, now, state.readyAt.isPresent(), false));
    }
    state.since = now;
  }

  private void charge(State state, boolean evicted) {
    if (state.reserved) {
      account(state);
      for (Use use : state.ofAttempt) {
        uses.add(
            new Use(
                use.queue(),
                use.amount(),
                use.from(),
                use.to(),
                use.ready(),
                evicted
                    && use.ready()
                    && !use.from().isBefore(state.checkpointedAt.orElse(BEGIN))));
      }
      state.ofAttempt.clear();
    }
  }

  private void observe(State state, Optional<Ending> ending) {
    Optional<Outcome> outcome = ending.map(Ending::outcome);
    if (!outcome.equals(Optional.of(Outcome.DELETED))) {
      version += random.nextInt(1, 5);
      state.version = version;
    }
    // a Workload that has finished says that all of its pods were given back
    boolean givenBack =
        !steady
            && outcome.filter(it -> it == Outcome.SUCCEEDED || it == Outcome.FAILED).isPresent();
    observations.add(
        new AttemptObservation(
            state.uid,
            state.version,
            now,
            Optional.of(
                new Reservation(
                    new Holder(
                        "namespace",
                        "name-" + state.uid,
                        "local",
                        state.queue(),
                        state.cohortPath(),
                        "Job",
                        "job",
                        Map.of("team", "red")),
                    state.reservedAt,
                    state.readyAt,
                    state.readyAt.isPresent(),
                    state.checkpointedAt,
                    givenBack ? List.of() : state.amounts)),
            ending));
  }

  List<AttemptObservation> observations() {
    return observations;
  }

  List<Use> uses() {
    return uses;
  }

  Instant now() {
    return now;
  }
}
