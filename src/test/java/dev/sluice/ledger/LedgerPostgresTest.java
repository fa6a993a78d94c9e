package dev.sluice.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
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
