package dev.sluice.ledger;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.h2.jdbcx.JdbcDataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Connects to the database of a ledger: a PostgreSQL server, or an embedded H2 in a file
 * (docs/decisions/0016-the-ledgers-database.md). Thread-safe.
 */
final class LedgerDatabase {

  private static final String MIGRATIONS = "classpath:dev/sluice/ledger/migrations";
  private static final String OF_SERVERS = "classpath:dev/sluice/ledger/postgresql";
  private static final int CONNECT_SECONDS = 10;
  private static final int ANSWER_SECONDS = 60;

  private final LedgerOptions options;

  LedgerDatabase(LedgerOptions options) {
    this.options = options;
  }

  /** The database is there, and its schema can't be brought up to date. */
  static final class SchemaException extends SQLException {

    private static final long serialVersionUID = 1L;

    SchemaException(FlywayException cause) {
      super(
          "the schema can't be migrated: %s; what was done is kept, and tried again: mend the database, or give the ledger an empty one"
              .formatted(cause.getMessage()),
          cause);
    }
  }

  /**
   * Connects, after the schema was made or brought up to date.
   *
   * @throws SchemaException if the schema can't be brought up to date
   * @throws SQLException if the database can't be used
   */
  LedgerStore migrated() throws SQLException {
    DataSource dataSource = dataSource();
    Connection connection = dataSource.getConnection();
    try {
      Flyway flyway =
          Flyway.configure(LedgerDatabase.class.getClassLoader())
              .dataSource(dataSource)
              .locations(
                  options.server().isPresent()
                      ? new String[] {MIGRATIONS, OF_SERVERS}
                      : new String[] {MIGRATIONS})
              .table("sluice_schema_history")
              .baselineOnMigrate(true)
              .baselineVersion("0")
              .load();
      if (Arrays.stream(flyway.info().all()).anyMatch(each -> each.getState().isFailed())) {
        // H2 keeps what a migration did before it failed, and migrations may be repeated
        flyway.repair();
      }
      flyway.migrate();
      return new LedgerStore(connection);
    } catch (FlywayException e) {
      connection.close();
      throw new SchemaException(e);
    }
  }

  /**
   * Connects to a database that has the schema.
   *
   * @throws SQLException if the database can't be used
   */
  LedgerStore connect() throws SQLException {
    return new LedgerStore(dataSource().getConnection());
  }

  /** The database, whatever it is. */
  DataSource dataSource() throws SQLException {
    return options.server().isPresent() ? server(options.server().get()) : embedded();
  }

  /** Each commit is in the file when it returns; the file is locked while it is open. */
  private DataSource embedded() {
    JdbcDataSource dataSource = new JdbcDataSource();
    dataSource.setURL(
        "jdbc:h2:file:%s;WRITE_DELAY=0;DB_CLOSE_ON_EXIT=FALSE;TRACE_LEVEL_FILE=0"
            .formatted(options.directory().toAbsolutePath().resolve("ledger")));
    return dataSource;
  }

  private static DataSource server(LedgerOptions.Server server) throws SQLException {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setURL(server.jdbcUrl());
    dataSource.setApplicationName("sluice");
    dataSource.setConnectTimeout(CONNECT_SECONDS);
    dataSource.setSocketTimeout(ANSWER_SECONDS);
    if (!server.username().isEmpty()) {
      dataSource.setUser(server.username());
    }
    if (server.passwordFile().isPresent()) {
      dataSource.setPassword(password(server.passwordFile().get()));
    }
    return dataSource;
  }

  /** Read each time: a Secret may change. */
  private static String password(Path file) throws SQLException {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      throw new SQLException("the file of the password can't be read: " + file, e);
    }
  }
}
