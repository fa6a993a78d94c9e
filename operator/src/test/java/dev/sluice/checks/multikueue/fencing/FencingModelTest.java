package dev.sluice.checks.multikueue.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.fencing.FencingController.FencePolicy;
import dev.sluice.checks.multikueue.fencing.FencingController.LeaseClock;
import dev.sluice.checks.multikueue.fencing.FencingController.LeaseReader;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/**
 * The rule of the fence as a whole, in a model of a manager, a worker and what lies between them:
 * whatever happens to renewals, a worker's pods are gone when the manager starts the job elsewhere.
 * True time is in milliseconds; each process only sees its own clock. The worker's operator may be
 * killed at any moment; what it is told then is the API server's answer, as it would be.
 */
@Order(2) // long ones begin early
class FencingModelTest {

  private static final int SCHEDULES = 300;
  private static final long TICK = 500;

  /** What it takes to write, to suspend and to delete, once the fence was noticed. */
  private static final long STOPPING = 1_000;

  private static final long QUICK = 500;

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

  private record Arrival(long at, long sent) {
    boolean quick() {
      return at - sent <= QUICK;
    }
  }

  /** From when to when the worker's operator doesn't run; the next one has another clock. */
  private record Outage(long from, long to) {}

  private record Outcome(long gone, long startedElsewhere) {}

  /** What befalls a worker's operator. */
  private enum Worker {
    STAYS,
    RESTARTS
  }

  private static Outcome play(Random random, Worker worker, Duration timeout, Duration grace) {
    FenceTimeouts terms = new FenceTimeouts(timeout);
    Clock manager = Clock.any(random);
    long cut = random.nextLong(1_000, 3 * timeout.toMillis());
    long noticed = cut + random.nextLong(0, 2 * timeout.toMillis());
    List<Arrival> arrivals = new ArrayList<>();
    arrivals.add(new Arrival(20, 0));
    long pause = terms.renewEvery().toMillis();
    for (long sent = pause; sent < noticed; sent += pause) {
      boolean arrives = sent < cut ? random.nextInt(10) > 0 : random.nextInt(3) == 0;
      long delay = random.nextInt(4) == 0 ? random.nextLong(1, 2 * timeout.toMillis()) : 20;
      if (arrives) {
        arrivals.add(new Arrival(sent + delay, sent));
      }
    }
    arrivals.sort(Comparator.comparing(Arrival::at));
    List<Outage> outages =
        worker == Worker.RESTARTS
            ? outages(random, arrivals, terms.stopAfter(grace).toMillis())
            : List.of();
    long stopped = stopped(random, arrivals, outages, manager, terms.stopAfter(grace));
    return new Outcome(stopped + STOPPING + grace.toMillis(), manager.after(noticed, timeout));
  }

  /** At any time until shortly before the job has to be off: nobody stops it while none runs. */
  private static List<Outage> outages(Random random, List<Arrival> arrivals, long stopAfter) {
    List<Outage> outages = new ArrayList<>();
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      long from = random.nextLong(0, arrivals.getLast().at() + stopAfter);
      long to = from + random.nextLong(1_000, stopAfter / 2);
      long due =
          arrivals.stream().filter(it -> it.at() <= from).mapToLong(Arrival::sent).max().orElse(0)
              + stopAfter * 9 / 10;
      if (to < due && outages.stream().allMatch(it -> to < it.from() || it.to() < from)) {
        outages.add(new Outage(from, to));
      }
    }
    for (Outage outage : outages) {
      // how long the last one took that came before an operator is known to that operator only
      while (newest(arrivals, outage.to()).filter(it -> !it.quick()).isPresent()) {
        arrivals.remove(newest(arrivals, outage.to()).orElseThrow());
      }
    }
    return outages;
  }

  private static Optional<Arrival> newest(List<Arrival> arrivals, long until) {
    return arrivals.stream()
        .filter(it -> it.at() <= until)
        .max(Comparator.comparing(Arrival::sent));
  }

  /** When the worker notices that it has to stop. */
  private static long stopped(
      Random random,
      List<Arrival> arrivals,
      List<Outage> outages,
      Clock manager,
      Duration stopAfter) {
    Clock server = Clock.any(random);
    Clock clock = Clock.any(random);
    Optional<LeaseClock> known = Optional.empty();
    long seen = 0;
    for (long now = TICK; ; now += TICK) {
      long then = now;
      if (outages.stream().anyMatch(it -> it.from() <= then && then < it.to())) {
        known = Optional.empty();
        clock = Clock.any(random);
        continue;
      }
      if (known.isEmpty()) {
        known =
            Optional.of(
                read(random, newest(arrivals, now).orElseThrow(), now, manager, server, clock));
      } else {
        for (Arrival arrival : between(arrivals, seen, now).toList()) {
          known =
              Optional.of(
                  known.get().renewed("m", manager.at(arrival.sent()), clock.at(arrival.at())));
        }
      }
      seen = now;
      Instant deadline = FencePolicy.deadline(known, clock.at(0), stopAfter);
      if (!clock.at(now).isBefore(deadline)) {
        return now;
      }
    }
  }

  private static Stream<Arrival> between(List<Arrival> arrivals, long after, long until) {
    return arrivals.stream().filter(it -> after < it.at() && it.at() <= until);
  }

  /** What a new operator makes of the Lease that it finds. */
  private static LeaseClock read(
      Random random, Arrival last, long now, Clock manager, Clock server, Clock clock) {
    ObjectNode lease = JsonNodeFactory.instance.objectNode();
    lease
        .putObject("spec")
        .put("holderIdentity", "m")
        .put("renewTime", manager.at(last.sent()).toString());
    ObjectNode entry = lease.putObject("metadata").putArray("managedFields").addObject();
    entry.put("time", server.at(last.at()).truncatedTo(ChronoUnit.SECONDS).toString());
    entry.putObject("fieldsV1").putObject("f:spec").putObject("f:renewTime");
    long asked = now - random.nextLong(0, QUICK);
    LeaseReader.Reading reading =
        LeaseReader.reading(
                lease,
                Optional.of(server.at(now).truncatedTo(ChronoUnit.SECONDS)),
                clock.at(asked),
                clock.at(now))
            .orElseThrow();
    return LeaseClock.listed(
        reading.holder(), reading.sent(), reading.earliest(), reading.latest());
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
  void neitherWhenTheWorkersOperatorIsRestartedAtAnyMoment(RepetitionInfo repetition) {
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
            .renewed("m", Instant.EPOCH.plusSeconds(1), Instant.EPOCH.plusSeconds(1))
            .renewed("m", Instant.EPOCH.plusSeconds(2), Instant.EPOCH.plusSeconds(900));

    assertThat(held.lastRenewal()).isEqualTo(Instant.EPOCH.plusSeconds(2));
  }
}
