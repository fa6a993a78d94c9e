package dev.sluice.ledger;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * How a ledger is kept (docs/ledger.md#configuration).
 *
 * @param directory of the embedded database and of what is not in the database yet
 * @param server the database server; empty for the embedded one
 * @param labels keys of the labels of Workloads that rows keep
 * @param maxAge how long attempts are kept after their end
 * @param maxBufferBytes the most bytes that wait for the database
 * @param behind how long what was observed may wait for more, so that one transaction writes it
 * @param currency of prices, for people; empty if nobody says so
 */
public record LedgerOptions(
    Path directory,
    Optional<Server> server,
    List<String> labels,
    Duration maxAge,
    long maxBufferBytes,
    Duration behind,
    String currency) {

  /**
   * How long rows are behind while nobody asks: many Workloads get quota, are ready and end within
   * it, and one transaction for all of them costs much less than one for each.
   */
  public static final Duration BEHIND = Duration.ofSeconds(30);

  /**
   * A PostgreSQL server.
   *
   * @param jdbcUrl without a password
   * @param username empty if the URL or the server says so
   * @param passwordFile the file with the password, read at each connection; empty without one
   */
  public record Server(String jdbcUrl, String username, Optional<Path> passwordFile) {}
}
