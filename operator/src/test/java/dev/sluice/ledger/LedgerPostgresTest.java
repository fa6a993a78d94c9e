package dev.sluice.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.ledger.UsageRows.UsageRow;
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
