package dev.sluice.checks.multikueue.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/**
 * The rule of the fence as a whole, in a model of a manager, a worker and what lies between them:
 * whatever happens to renewals, a worker's pods are gone when the manager starts the job elsewhere.
 * True time is in milliseconds; each side only sees its own clock.
 */
class FencingModelTest {

  private static final int SCHEDULES = 300;
  private static final long TICK = 500;

  /** What it takes to write, to suspend and to delete, once the fence was noticed. */
  private static final long STOPPING = 1_000;

  /** A clock: differs from true time by anything, and goes at most 1 % too fast or too slow. */
  private record Clock(long offset, double rate) {

    static Clock any(Random random) {
      return new Clock(
          random.nextLong(-86_400_000, 86_400_000), 1 + (random.nextDouble() - 0.5) / 50);
    }

    Instant at(long trueMillis) {
      return Instant.ofEpochMilli(offset + Math.round(trueMillis * rate));
    }

    /** The true time at which it has gone on for so long. */
    long after(long trueMillis, Duration duration) {
      return trueMillis + Math.round(duration.toMillis() / rate);
    }
  }

  private record Arrival(long at, Instant sent) {}

  private record Outcome(long gone, long startedElsewhere) {}

  /** What befalls a worker's operator, and its cluster's clock. */
  private enum Worker {
    STAYS,
    RESTARTS
  }

  private static Outcome play(Random random, Worker worker, Duration timeout, Duration grace) {
    FenceTerms terms = new FenceTerms(timeout);
    Clock manager = Clock.any(random);
    Clock theirs = Clock.any(random);
    long cut = random.nextLong(1_000, 3 * timeout.toMillis());
    long noticed = cut + random.nextLong(0, 2 * timeout.toMillis());
    List<Arrival> arrivals = new ArrayList<>();
    arrivals.add(new Arrival(20, manager.at(0)));
    long pause = terms.renewEvery().toMillis();
    for (long sent = pause; sent < noticed; sent += pause) {
      boolean arrives = sent < cut ? random.nextInt(10) > 0 : random.nextInt(3) == 0;
      long longest = worker == Worker.STAYS ? 2 * timeout.toMillis() : 500;
      long delay = random.nextInt(4) == 0 ? random.nextLong(1, longest) : 20;
      if (arrives) {
        arrivals.add(new Arrival(sent + delay, manager.at(sent)));
      }
    }
    arrivals.sort(Comparator.comparing(Arrival::at));
    long restart =
        worker == Worker.RESTARTS ? random.nextLong(cut, cut + timeout.toMillis() / 2) : -1;
    long stopped = stopped(arrivals, theirs, terms.stopAfter(grace), restart);
    return new Outcome(stopped + STOPPING + grace.toMillis(), manager.after(noticed, timeout));
  }

  /** When the worker notices that it has to stop. */
  private static long stopped(
      List<Arrival> arrivals, Clock clock, Duration stopAfter, long restart) {
    Optional<LeaseClock> known = Optional.empty();
    Optional<Arrival> written = Optional.empty();
    int next = 0;
    for (long now = 0; ; now += TICK) {
      if (restart >= 0 && now >= restart && now < restart + TICK) {
        known = Optional.empty();
      }
      if (known.isEmpty() && written.isPresent()) {
        Arrival last = written.get();
        known =
            Optional.of(LeaseClock.listed("m", last.sent(), clock.at(last.at()), clock.at(now)));
      }
      for (; next < arrivals.size() && arrivals.get(next).at() <= now; next++) {
        Arrival arrival = arrivals.get(next);
        Instant here = clock.at(arrival.at());
        known =
            Optional.of(
                known
                    .map(lease -> lease.heard("m", arrival.sent(), here))
                    .orElseGet(() -> LeaseClock.listed("m", arrival.sent(), here, here)));
        boolean newest = written.filter(it -> !it.sent().isBefore(arrival.sent())).isEmpty();
        written = newest ? Optional.of(arrival) : written;
      }
      Instant deadline = FenceRule.deadline(known, clock.at(0), stopAfter);
      if (!clock.at(now).isBefore(deadline) && next > 0) {
        return now;
      }
    }
  }

  @RepeatedTest(5)
  void nothingRunsInTheWorkerAnyMoreWhenItIsStartedElsewhere(RepetitionInfo repetition) {
    Random random = new Random(repetition.getCurrentRepetition());
    for (int i = 0; i < SCHEDULES; i++) {
      Outcome outcome = play(random, Worker.STAYS, Duration.ofMinutes(15), Duration.ofMinutes(1));

      assertThat(outcome.gone()).isLessThan(outcome.startedElsewhere());
    }
  }

  @RepeatedTest(5)
  void neitherWhenTheWorkersOperatorIsRestarted(RepetitionInfo repetition) {
    Random random = new Random(100 + repetition.getCurrentRepetition());
    for (int i = 0; i < SCHEDULES; i++) {
      Outcome outcome =
          play(random, Worker.RESTARTS, Duration.ofMinutes(10), Duration.ofSeconds(30));

      assertThat(outcome.gone()).isLessThan(outcome.startedElsewhere());
    }
  }

  @Test
  void withShortTimeOutsAsWell() {
    Random random = new Random(7);
    for (int i = 0; i < SCHEDULES; i++) {
      Outcome outcome = play(random, Worker.STAYS, Duration.ofSeconds(10), Duration.ZERO);

      assertThat(outcome.gone()).isLessThan(outcome.startedElsewhere());
    }
  }

  @Test
  void theModelShowsWhatGoesWrongWithoutTheDifferenceOfClocks() {
    // counted from arrivals alone, a renewal that is held up would keep a job too long
    LeaseClock held =
        LeaseClock.listed("m", Instant.EPOCH, Instant.EPOCH, Instant.EPOCH)
            .heard("m", Instant.EPOCH.plusSeconds(1), Instant.EPOCH.plusSeconds(1))
            .heard("m", Instant.EPOCH.plusSeconds(2), Instant.EPOCH.plusSeconds(900));

    assertThat(held.lastHeard()).isEqualTo(Instant.EPOCH.plusSeconds(2));
  }
}
