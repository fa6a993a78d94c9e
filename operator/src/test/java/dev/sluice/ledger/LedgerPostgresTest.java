package dev.sluice.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.ledger.AttemptObservation.Ending;
import dev.sluice.ledger.AttemptObservation.Outcome;
import dev.sluice.ledger.UsageRows.UsageRow;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** The same rows in a PostgreSQL server, which goes away and comes back. */
class LedgerPostgresTest {

  private static final String PASSWORD = "not to be shown";

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path directory;

  private LedgerDatabase database(PostgresServer server, String password) throws Exception {
    return database(server, directory, password);
  }

  static LedgerDatabase database(PostgresServer server, Path directory, String password)
      throws Exception {
    Path file = Files.writeString(Files.createTempFile(directory, "password", ""), password);
    return new LedgerDatabase(
        new LedgerOptions(
            directory,
            Optional.of(new LedgerOptions.Server(server.url(), "ledger", Optional.of(file))),
            List.of(),
            Duration.ofDays(1),
            1L << 20,
            Duration.ZERO,
            ""));
  }

  @Test
  void sumsOfRowsAreTheIntegral() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory, PASSWORD)) {
      LedgerDatabase database = database(server, PASSWORD);
      LedgerStoreTest.compare(11, database::migrated);
    }
  }

  @Test
  void sumsOfDaysAreThoseOfRows() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory, PASSWORD)) {
      UsageSumsTest.compare(11, database(server, PASSWORD));
    }
  }

  @Test
  void whoReadBeforeAnotherWroteDoesNotOverwriteIt() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory, PASSWORD)) {
      LedgerDatabase database = database(server, PASSWORD);
      database.migrated().close();
      LedgerStoreTest.interleave(database::connect, database.dataSource().getConnection());
    }
  }

  /** Who deletes labels waits for who writes an attempt that has them, and looks again. */
  @Test
  void labelsOfAnAttemptThatIsBeingWrittenAreKept() throws Exception {
    Instant end = RandomUses.BEGIN.plusSeconds(9);
    try (PostgresServer server = PostgresServer.start(directory, PASSWORD)) {
      LedgerDatabase database = database(server, PASSWORD);
      try (LedgerStore store = database.migrated();
          Connection writing = database.dataSource().getConnection();
          Connection deleting = database.dataSource().getConnection();
          Statement statement = deleting.createStatement()) {
        store.add(
            List.of(
                LedgerStoreTest.labelled(
                    "u1", Optional.of(new Ending(end, Outcome.FAILED, "Failed")))));
        for (String table : List.of("usage_day", "usage_group", "attempt_amount", "attempt")) {
          statement.execute("DELETE FROM sluice_" + table); // nothing has its labels any more
        }
        FutureTask<Integer> forgotten = new FutureTask<>(() -> LabelSets.forget(deleting));
        LedgerStore leader =
            new LedgerStore(
                beforeCommit(
                    writing,
                    () -> {
                      Thread.ofVirtual().start(forgotten);
                      await("the deletion to wait")
                          .until(() -> forgotten.isDone() || isAnyWaiting(database));
                    }));
        leader.add(List.of(LedgerStoreTest.labelled("u2", Optional.empty())));
        assertThat(forgotten.get()).isZero();
        UsageQuery query =
            UsageQuery.of("label:team", RandomUses.BEGIN, end.plusSeconds(9), Optional.empty());
        assertThat(store.usage(query, end.plusSeconds(9), Duration.ofMinutes(1)).rows())
            .extracting(row -> row.by().get("label:team"))
            .containsExactly("red");
      }
    }
  }

  private static boolean isAnyWaiting(LedgerDatabase database) throws SQLException {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT 1 FROM pg_locks WHERE NOT granted")) {
      return rows.next();
    }
  }

  /** Does something once, before a transaction is committed. */
  private static Connection beforeCommit(Connection connection, Runnable change) {
    AtomicBoolean done = new AtomicBoolean();
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("commit") && done.compareAndSet(false, true)) {
                change.run();
              }
              return method.invoke(connection, arguments);
            });
  }

  @Test
  void aServerThatWentAwayIsToldAgain() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory, PASSWORD)) {
      LedgerDatabase database = database(server, PASSWORD);
      List<AttemptObservation> all = new RandomUses(new Random(2), 4, 100).observations();
      LedgerStore store = database.migrated();
      store.add(all.subList(0, all.size() / 2));
      server.end();
      assertThatThrownBy(() -> store.add(all)).isInstanceOf(SQLException.class);
      assertThatThrownBy(database::migrated)
          .isInstanceOf(SQLException.class)
          .hasMessageNotContaining(PASSWORD);
      server.begin();
      try (LedgerStore again = database.migrated();
          LedgerStore other = database.migrated()) {
        again.add(all);
        assertThat(other.add(all)).as("what another replica wrote").isEmpty();
      }
    }
  }

  /** Each query of the dashboard for Grafana, with what Grafana puts into it. */
  @Test
  void theDashboardShowsWhatUsageTells() throws Exception {
    RandomUses world = new RandomUses(new Random(4), 40, 400);
    Instant until = world.now();
    try (PostgresServer server = PostgresServer.start(directory, PASSWORD)) {
      LedgerDatabase database = database(server, PASSWORD);
      try (LedgerStore store = database.migrated()) {
        store.add(world.observations());
        store.setPrices(
            Map.of(new FlavorResource("flavor-0", "cpu"), BigDecimal.ONE), RandomUses.BEGIN);
        UsageQuery query =
            UsageQuery.of("", RandomUses.BEGIN, until.plus(Duration.ofDays(1)), Optional.empty());
        BigDecimal millis = BigDecimal.ZERO;
        BigDecimal cost = BigDecimal.ZERO;
        for (UsageRow row : store.usage(query, until, Duration.ofMinutes(1)).rows()) {
          if (row.resource().equals("cpu")) {
            millis = millis.add(row.reserved());
            cost = cost.add(row.cost());
          }
        }
        Map<String, BigDecimal> shown = shown(database, until);
        assertThat(shown).hasSize(5);
        for (String panel : List.of("Reserved by queue", "Reserved by label")) {
          assertThat(shown.get(panel))
              .isCloseTo(
                  millis.divide(BigDecimal.valueOf(3_600), MathContext.DECIMAL64), within(SMALL));
        }
        assertThat(shown.get("Cost by label")).isCloseTo(cost, within(SMALL));
        assertThat(shown.get("Lost by queue")).isPositive();
        assertThat(shown.get("Usage")).isPositive();
      }
    }
  }

  private static final BigDecimal SMALL = new BigDecimal("0.000001");

  /** The sums of the last column that isn't a count, by the title of a panel. */
  private static Map<String, BigDecimal> shown(LedgerDatabase database, Instant until)
      throws Exception {
    Map<String, BigDecimal> shown = new HashMap<>();
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      for (JsonNode panel :
          new ObjectMapper()
              .readTree(Path.of("deploy/grafana/usage.json").toFile())
              .path("panels")) {
        String sql =
            panel
                .at("/targets/0/rawSql")
                .asText()
                .replace("$__unixEpochFrom()", "" + RandomUses.BEGIN.getEpochSecond())
                .replace("$__unixEpochTo()", "" + until.plusSeconds(1).getEpochSecond())
                .replace("extract(epoch FROM now())", "" + until.toEpochMilli() / 1_000.0)
                .replace("$resource", "cpu")
                .replace("$label", "team");
        assertThat(sql).doesNotContain("$");
        BigDecimal sum = BigDecimal.ZERO;
        try (ResultSet rows = statement.executeQuery(sql)) {
          while (rows.next()) {
            sum = sum.add(rows.getBigDecimal(panel.path("title").asText().equals("Usage") ? 4 : 3));
          }
        }
        shown.put(panel.path("title").asText(), sum);
      }
    }
    return shown;
  }

  @Test
  void aWrongPasswordIsNotShown() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory, PASSWORD)) {
      LedgerDatabase database = database(server, "another one");
      assertThatThrownBy(database::migrated)
          .hasMessageContaining("password authentication failed")
          .hasMessageNotContaining("another one");
    }
  }
}
