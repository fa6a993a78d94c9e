package dev.sluice.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.FlavorResource;
import dev.sluice.ledger.AttemptObservation.Amount;
import dev.sluice.ledger.AttemptObservation.Ending;
import dev.sluice.ledger.AttemptObservation.Holder;
import dev.sluice.ledger.AttemptObservation.Outcome;
import dev.sluice.ledger.AttemptObservation.Reservation;
import dev.sluice.testing.BuildBreadth;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
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
 * <p>{@code -Dsluice.ledger.rows} says how many.
 */
@Tag(BuildBreadth.NIGHTLY)
class LedgerAimsTest {

  private static final int ROWS = Integer.getInteger("sluice.ledger.rows", 20_000);
  private static final int CHUNK = 2_000;
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
    Random random = new Random(7);
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
      BigDecimal expected = BigDecimal.ZERO;
      for (int at = 0; at < ROWS / 2; at += CHUNK) {
        List<AttemptObservation> observations = new ArrayList<>();
        for (int i = at; i < Math.min(at + CHUNK, ROWS / 2); i++) {
          Instant from = BEGIN.plusMillis(random.nextLong(MONTH.toMillis() * 9 / 10));
          Instant to = from.plusMillis(random.nextLong(MONTH.toMillis() / 10));
          observations.add(attempt(i, from, to));
          expected =
              expected.add(
                  BigDecimal.valueOf(1_000L * (1 + i % 16))
                      .multiply(BigDecimal.valueOf(Duration.between(from, to).toMillis())));
        }
        long before = threads.getCurrentThreadCpuTime();
        for (AttemptObservation each : observations) {
          ObservationCodec.encode(each);
        }
        store.add(observations);
        cpu += threads.getCurrentThreadCpuTime() - before;
      }
      System.out.printf(
          "ledger: store=%s rows=%d writeCpuMicrosOfAnAttempt=%.0f%n",
          what, ROWS, cpu / 1e3 / (ROWS / 2));
      double write = (System.nanoTime() - started) / 1e9;
      UsageQuery query = UsageQuery.of("label:team", BEGIN, BEGIN.plus(MONTH), Optional.empty());
      for (int i = 0; i < 5; i++) {
        long asked = System.nanoTime();
        long cpuBefore = threads.getCurrentThreadCpuTime();
        UsageRows rows = store.usage(query, BEGIN.plus(MONTH), Duration.ofMinutes(5));
        double seconds = (System.nanoTime() - asked) / 1e9;
        double cpuSeconds = (threads.getCurrentThreadCpuTime() - cpuBefore) / 1e9;
        BigDecimal sum =
            rows.rows().stream()
                .filter(row -> row.resource().equals("cpu"))
                .map(row -> row.reserved().movePointRight(6))
                .reduce(BigDecimal.ZERO, BigDecimal::add);
        assertThat(sum).isEqualByComparingTo(expected);
        System.out.printf(
            "ledger: store=%s rows=%d writeSeconds=%.1f usageByTeamSeconds=%.2f ownCpu=%.2f%n",
            what, ROWS, write, seconds, cpuSeconds);
      }
    }
  }

  private static AttemptObservation attempt(int number, Instant from, Instant to) {
    String flavor = number % 3 == 0 ? "spot" : "on-demand";
    return new AttemptObservation(
        "uid-" + number,
        1,
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
