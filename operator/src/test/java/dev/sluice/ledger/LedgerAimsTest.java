package dev.sluice.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.FlavorResource;
import dev.sluice.ledger.AttemptObservation.Amount;
import dev.sluice.ledger.AttemptObservation.Ending;
import dev.sluice.ledger.AttemptObservation.Holder;
import dev.sluice.ledger.AttemptObservation.Outcome;
import dev.sluice.ledger.AttemptObservation.Reservation;
import dev.sluice.ledger.ObservationBuffer.ObservationCodec;
import dev.sluice.testing.BuildBreadth;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * How long many rows take (docs/ledger.md#measured). The figures are printed: machines differ.
 *
 * <p>{@code -Dsluice.ledger.rows} says how many, {@code -Dsluice.ledger.chunk} how many
 * observations one transaction writes, and {@code -Dsluice.ledger.begins=true} that an attempt's
 * begin is written before its end.
 */
@Tag(BuildBreadth.NIGHTLY)
class LedgerAimsTest {

  private static final int ROWS = Integer.getInteger("sluice.ledger.rows", 20_000);
  private static final int CHUNK = Integer.getInteger("sluice.ledger.chunk", 2_000);
  private static final boolean BEGINS = Boolean.getBoolean("sluice.ledger.begins");
  private static final int OPEN = 1_000;
  private static final Instant BEGIN = Instant.parse("2026-03-01T00:00:00Z");
  private static final Duration MONTH = Duration.ofDays(31);

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path directory;

  @Test
  void anEmbeddedDatabase() throws Exception {
    measure("h2", new LedgerDatabase(LedgerStoreTest.options(directory)));
  }

  @Test
  void aServer() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory, "secret")) {
      measure("postgresql", LedgerPostgresTest.database(server, directory, "secret"));
    }
  }

  /** Two rows for each attempt, all of one month; ten teams. */
  private static void measure(String what, LedgerDatabase database) throws Exception {
    try (LedgerStore store = database.migrated()) {
      store.setPrices(
          Map.of(
              new FlavorResource("spot", "cpu"), new BigDecimal("0.00001"),
              new FlavorResource("on-demand", "cpu"), new BigDecimal("0.00003"),
              new FlavorResource("on-demand", "memory"), new BigDecimal("0.000000000004")),
          BEGIN);
      ThreadMXBean threads = ManagementFactory.getThreadMXBean();
      long cpu = 0;
      long started = System.nanoTime();
      List<AttemptObservation> ended = attempts();
      List<AttemptObservation> all = BEGINS ? withBegins(ended) : ended;
      for (int at = 0; at < all.size(); at += CHUNK) {
        List<AttemptObservation> observations = all.subList(at, Math.min(all.size(), at + CHUNK));
        long before = threads.getCurrentThreadCpuTime();
        for (AttemptObservation each : observations) {
          ObservationCodec.encode(each);
        }
        store.add(observations);
        cpu += threads.getCurrentThreadCpuTime() - before;
        if (at + CHUNK >= all.size() || at / CHUNK % 25 == 24) {
          System.out.printf(
              "ledger: store=%s rows=%d writeCpuMicrosOfAnAttempt=%.0f writeSeconds=%.1f%n",
              what,
              2L * Math.min(all.size(), at + CHUNK) * ended.size() / all.size(),
              cpu / 1e3 / Math.min(all.size(), at + CHUNK) * all.size() / ended.size(),
              (System.nanoTime() - started) / 1e9);
        }
      }
      Instant end = BEGIN.plus(MONTH);
      Duration odd = Duration.ofHours(11).plusMillis(7);
      for (int i = 0; i < 5; i++) {
        ask(store, what + " month", ended, BEGIN, end);
        ask(store, what + " odd", ended, BEGIN.plus(odd), end.minus(odd));
      }
      askOpen(store, what, database);
    }
  }

  /** Asks what attempts use that are open, as is done once a minute. */
  private static void askOpen(LedgerStore store, String what, LedgerDatabase database)
      throws Exception {
    Instant since = BEGIN.plus(MONTH);
    List<AttemptObservation> open = new ArrayList<>();
    double amounts = 0;
    for (int i = 0; i < OPEN; i++) {
      AttemptObservation ended = attempt(ROWS + i, since, since);
      open.add(
          new AttemptObservation(
              ended.workload(), 1, since, ended.reservation(), Optional.empty()));
      for (Amount each : ended.reservation().orElseThrow().amounts()) {
        amounts += each.amount();
      }
    }
    store.add(open);
    long asked = System.nanoTime();
    Map<UsageTally.Series, Ledger.Use> uses = store.openUse(since, since.plusMillis(2));
    System.out.printf(
        "ledger: store=%s rows=%d open=%d openUseSeconds=%.3f%n",
        what, ROWS + 2 * OPEN, OPEN, (System.nanoTime() - asked) / 1e9);
    assertThat(uses.values().stream().mapToDouble(Ledger.Use::run).sum()).isEqualTo(2 * amounts);
    try (Connection connection = database.dataSource().getConnection();
        PreparedStatement explain =
            connection.prepareStatement("EXPLAIN " + LedgerStore.OPEN_USE)) {
      for (int parameter = 1; parameter <= 4; parameter++) {
        explain.setLong(parameter, 0);
      }
      StringBuilder plan = new StringBuilder();
      try (ResultSet rows = explain.executeQuery()) {
        while (rows.next()) {
          plan.append(rows.getString(1)).append('\n');
        }
      }
      assertThat(plan.toString())
          .as("no table is read as a whole")
          .doesNotContain("SLUICE_ATTEMPT_AMOUNT.tableScan", "Seq Scan on sluice_attempt_amount");
    }
  }

  /** Asks for the usage of a span by team. */
  private static void ask(
      LedgerStore store, String what, List<AttemptObservation> all, Instant since, Instant until)
      throws Exception {
    BigDecimal expected = BigDecimal.ZERO;
    for (AttemptObservation each : all) {
      Reservation reservation = each.reservation().orElseThrow();
      Instant from = reservation.reservedAt();
      Instant to = each.ending().orElseThrow().at();
      long millis =
          Duration.between(from.isAfter(since) ? from : since, to.isBefore(until) ? to : until)
              .toMillis();
      expected =
          expected.add(
              BigDecimal.valueOf(Math.max(0, millis))
                  .multiply(BigDecimal.valueOf(reservation.amounts().getFirst().amount())));
    }
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    UsageQuery query = UsageQuery.of("label:team", since, until, Optional.empty());
    long asked = System.nanoTime();
    long cpu = threads.getCurrentThreadCpuTime();
    UsageRows rows = store.usage(query, BEGIN.plus(MONTH), Duration.ofMinutes(5));
    System.out.printf(
        "ledger: store=%s rows=%d usageByTeamSeconds=%.2f ownCpu=%.2f%n",
        what,
        2 * all.size(),
        (System.nanoTime() - asked) / 1e9,
        (threads.getCurrentThreadCpuTime() - cpu) / 1e9);
    BigDecimal sum =
        rows.rows().stream()
            .filter(row -> row.resource().equals("cpu"))
            .map(row -> row.reserved().movePointRight(6))
            .reduce(BigDecimal.ZERO, BigDecimal::add);
    assertThat(sum).isEqualByComparingTo(expected);
  }

  /** Attempts in the order in which they end, in which they are told. */
  private static List<AttemptObservation> attempts() {
    Random random = new Random(7);
    List<AttemptObservation> all = new ArrayList<>();
    for (int i = 0; i < ROWS / 2; i++) {
      Instant from = BEGIN.plusMillis(random.nextLong(MONTH.toMillis() * 9 / 10));
      all.add(attempt(i, from, from.plusMillis(random.nextLong(MONTH.toMillis() / 10))));
    }
    all.sort(Comparator.comparing(AttemptObservation::observedAt));
    return all;
  }

  /** The same, each with an observation of its begin. */
  private static List<AttemptObservation> withBegins(List<AttemptObservation> ended) {
    List<AttemptObservation> all = new ArrayList<>(ended);
    for (AttemptObservation each : ended) {
      all.add(
          new AttemptObservation(
              each.workload(),
              1,
              each.reservation().orElseThrow().reservedAt(),
              each.reservation(),
              Optional.empty()));
    }
    all.sort(Comparator.comparing(AttemptObservation::observedAt));
    return all;
  }

  private static AttemptObservation attempt(int number, Instant from, Instant to) {
    String flavor = number % 3 == 0 ? "spot" : "on-demand";
    return new AttemptObservation(
        // created up to an hour before; UIDs come in no order
        "%010x%08x-%d"
            .formatted(from.getEpochSecond() - number % 3_600, number * 0x9E3779B9, number),
        2,
        to,
        Optional.of(
            new Reservation(
                new Holder(
                    "namespace-" + number % 50,
                    "job-" + number,
                    "queue",
                    "queue-" + number % 20,
                    "all/part-" + number % 4,
                    "Job",
                    "job-" + number,
                    Map.of("team", "team-" + number % 10)),
                from,
                Optional.of(from),
                true,
                Optional.empty(),
                List.of(
                    new Amount(flavor, "cpu", 1_000L * (1 + number % 16)),
                    new Amount(flavor, "memory", (1L << 30) * (1 + number % 64))))),
        Optional.of(new Ending(to, Outcome.SUCCEEDED, "Succeeded")));
  }
}
