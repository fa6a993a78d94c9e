package dev.sluice.ledger;

import dev.sluice.api.Quantities;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.ledger.Attempt.Part;
import dev.sluice.ledger.Attempt.Times;
import dev.sluice.ledger.AttemptObservation.Amount;
import dev.sluice.ledger.AttemptObservation.Ending;
import dev.sluice.ledger.AttemptObservation.Holder;
import dev.sluice.ledger.AttemptObservation.Outcome;
import dev.sluice.ledger.UsageQuery.Span;
import dev.sluice.ledger.UsageRows.Money;
import dev.sluice.ledger.UsageRows.UsageRow;
import java.math.BigDecimal;
import java.math.MathContext;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The rows in a database of the schema in {@code migrations}: one kind of SQL for all databases.
 * Not thread-safe; each user opens its own.
 */
final class LedgerStore implements AutoCloseable {

  private static final String ATTEMPT_COLUMNS =
      "workload_uid, attempt, version, namespace, workload, local_queue, cluster_queue,"
          + " cohort_path, owner_kind, owner_name, reserved_at, ready_at, checkpointed_at,"
          + " ended_at, outcome, reason";

  /** An hour in milliseconds, for which prices are. */
  private static final BigDecimal HOUR = BigDecimal.valueOf(3_600_000);

  private final Connection connection;

  /** Uses a connection, which is closed with the store. */
  LedgerStore(Connection connection) throws SQLException {
    this.connection = connection;
    connection.setAutoCommit(false);
  }

  /**
   * An attempt whose end is not known.
   *
   * @param version the version of its Workload that was observed last
   */
  record OpenAttempt(String uid, String namespace, String workload, long version) {}

  /**
   * Adds observations, all or none. Those that were added before change nothing.
   *
   * @return the attempts that ended
   * @throws SQLException if nothing was added; also if somebody else changed an attempt meanwhile,
   *     so that the observations have to be added again
   */
  List<Attempt> add(List<AttemptObservation> observations) throws SQLException {
    try {
      Map<String, Stored> last =
          last(observations.stream().map(AttemptObservation::uid).distinct().toList());
      List<Stored> changed = new ArrayList<>();
      List<Attempt> ended = new ArrayList<>();
      for (AttemptObservation observation : observations) {
        Optional<Stored> known = Optional.ofNullable(last.get(observation.uid()));
        for (Attempt attempt : Attempt.after(known.map(stored -> stored.attempt), observation)) {
          Stored stored =
              known
                  .filter(it -> it.attempt.number() == attempt.number())
                  .orElseGet(() -> new Stored(0));
          if (!attempt.isOpen()) {
            ended.add(attempt);
          }
          stored.attempt = attempt;
          if (!changed.contains(stored)) {
            changed.add(stored);
          }
          last.put(observation.uid(), stored);
          known = Optional.of(stored);
        }
      }
      write(changed);
      connection.commit();
      return ended;
    } catch (SQLException | RuntimeException | Error e) {
      connection.rollback();
      throw e;
    }
  }

  /** An attempt, and how much of it is in the database. */
  private static final class Stored {

    @SuppressWarnings("NullAway.Init") // set where it is made
    private Attempt attempt;

    /** How many of its parts; 0 if the attempt isn't there. */
    private final int parts;

    private final boolean present;

    /** The version in the database, if the attempt is there. */
    private final long version;

    Stored(int parts) {
      this.parts = parts;
      this.present = false;
      this.version = 0;
    }

    Stored(Attempt attempt) {
      this.attempt = attempt;
      this.parts = attempt.parts().size();
      this.present = true;
      this.version = attempt.version();
    }
  }

  private Map<String, Stored> last(List<String> uids) throws SQLException {
    Map<String, Stored> result = new HashMap<>();
    if (uids.isEmpty()) {
      return result;
    }
    String places = uids.stream().map(any -> "?").collect(Collectors.joining(", "));
    Map<String, List<Part>> parts = new HashMap<>();
    String newest =
        " WHERE a.workload_uid IN (%s) AND a.attempt = (SELECT MAX(b.attempt) FROM sluice_attempt b WHERE b.workload_uid = a.workload_uid)"
            .formatted(places);
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT p.workload_uid, p.flavor, p.resource, p.amount, p.from_at, p.to_at,"
                + " p.baseline, p.baseline_pace"
                + " FROM sluice_attempt_amount p JOIN sluice_attempt a"
                + " ON a.workload_uid = p.workload_uid AND a.attempt = p.attempt"
                + newest
                + " ORDER BY p.workload_uid, p.part")) {
      set(select, uids);
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          parts
              .computeIfAbsent(rows.getString(1), any -> new ArrayList<>())
              .add(
                  new Part(
                      new Amount(
                          rows.getString(2), rows.getString(3), rows.getLong(4), baseline(rows)),
                      Instant.ofEpochMilli(rows.getLong(5)),
                      time(rows, 6)));
        }
      }
    }
    Map<String, Map<String, String>> labels = labels(uids, newest);
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT " + ATTEMPT_COLUMNS + " FROM sluice_attempt a" + newest)) {
      set(select, uids);
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          String uid = rows.getString(1);
          result.put(
              uid,
              new Stored(
                  attempt(
                      rows,
                      labels.getOrDefault(uid, Map.of()),
                      parts.getOrDefault(uid, List.of()))));
        }
      }
    }
    return result;
  }

  private Map<String, Map<String, String>> labels(List<String> uids, String newest)
      throws SQLException {
    Map<String, Map<String, String>> labels = new HashMap<>();
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT l.workload_uid, l.label_key, l.label_value FROM sluice_attempt_label l"
                + " JOIN sluice_attempt a ON a.workload_uid = l.workload_uid"
                + " AND a.attempt = l.attempt"
                + newest)) {
      set(select, uids);
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          labels
              .computeIfAbsent(rows.getString(1), any -> new HashMap<>())
              .put(rows.getString(2), rows.getString(3));
        }
      }
    }
    return labels;
  }

  private static Attempt attempt(ResultSet rows, Map<String, String> labels, List<Part> parts)
      throws SQLException {
    String outcome = rows.getString(15);
    Optional<Instant> endedAt = time(rows, 14);
    return new Attempt(
        rows.getString(1),
        rows.getInt(2),
        rows.getLong(3),
        new Holder(
            rows.getString(4),
            rows.getString(5),
            rows.getString(6),
            rows.getString(7),
            rows.getString(8),
            rows.getString(9),
            rows.getString(10),
            labels),
        new Times(Instant.ofEpochMilli(rows.getLong(11)), time(rows, 12), time(rows, 13)),
        endedAt.isEmpty()
            ? Optional.empty()
            : Optional.of(new Ending(endedAt.get(), Outcome.of(outcome), text(rows.getString(16)))),
        parts);
  }

  @SuppressWarnings("NullAway") // columns may be null, whatever JDBC declares
  private static Optional<Baseline> baseline(ResultSet rows) throws SQLException {
    String flavor = rows.getString(7);
    return flavor == null
        ? Optional.empty()
        : Optional.of(new Baseline(flavor, rows.getBigDecimal(8)));
  }

  @SuppressWarnings("NullAway") // columns may be null, whatever JDBC declares
  private static String text(String column) {
    return column == null ? "" : column;
  }

  private static Optional<Instant> time(ResultSet rows, int column) throws SQLException {
    long millis = rows.getLong(column);
    return rows.wasNull() ? Optional.empty() : Optional.of(Instant.ofEpochMilli(millis));
  }

  private static void set(PreparedStatement statement, List<String> texts) throws SQLException {
    for (int i = 0; i < texts.size(); i++) {
      statement.setString(i + 1, texts.get(i));
    }
  }

  private static void set(PreparedStatement statement, int place, Optional<Instant> time)
      throws SQLException {
    if (time.isPresent()) {
      statement.setLong(place, time.get().toEpochMilli());
    } else {
      statement.setNull(place, Types.BIGINT);
    }
  }

  private void write(List<Stored> changed) throws SQLException {
    try (PreparedStatement insert =
            connection.prepareStatement(
                "INSERT INTO sluice_attempt (version, namespace, workload, local_queue,"
                    + " cluster_queue, cohort_path, owner_kind, owner_name, reserved_at, ready_at,"
                    + " checkpointed_at, ended_at, outcome, reason, workload_uid, attempt)"
                    + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        PreparedStatement update =
            connection.prepareStatement(
                "UPDATE sluice_attempt SET version = ?, namespace = ?, workload = ?,"
                    + " local_queue = ?, cluster_queue = ?, cohort_path = ?, owner_kind = ?,"
                    + " owner_name = ?, reserved_at = ?, ready_at = ?, checkpointed_at = ?,"
                    + " ended_at = ?, outcome = ?, reason = ?"
                    + " WHERE workload_uid = ? AND attempt = ? AND version = ?");
        PreparedStatement insertPart =
            connection.prepareStatement(
                "INSERT INTO sluice_attempt_amount (flavor, resource, amount, baseline,"
                    + " baseline_pace, from_at, to_at, workload_uid, attempt, part)"
                    + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        PreparedStatement updatePart =
            connection.prepareStatement(
                "UPDATE sluice_attempt_amount SET from_at = ?, to_at = ?"
                    + " WHERE workload_uid = ? AND attempt = ? AND part = ?");
        PreparedStatement insertLabel =
            connection.prepareStatement(
                "INSERT INTO sluice_attempt_label (workload_uid, attempt, label_key, label_value)"
                    + " VALUES (?, ?, ?, ?)")) {
      for (Stored stored : changed) {
        Attempt attempt = stored.attempt;
        write(stored.present ? update : insert, stored);
        if (!stored.present) {
          for (Map.Entry<String, String> label : attempt.holder().labels().entrySet()) {
            insertLabel.setString(1, attempt.uid());
            insertLabel.setInt(2, attempt.number());
            insertLabel.setString(3, label.getKey());
            insertLabel.setString(4, label.getValue());
            insertLabel.addBatch();
          }
        }
        for (int part = 0; part < attempt.parts().size(); part++) {
          writePart(part < stored.parts ? updatePart : insertPart, attempt, part, stored.parts);
        }
      }
      // an attempt that another process began at the same time violates the key
      insert.executeBatch();
      for (int count : update.executeBatch()) {
        if (count == 0) {
          throw new SQLTransientException("somebody else changed an attempt meanwhile");
        }
      }
      insertLabel.executeBatch();
      insertPart.executeBatch();
      updatePart.executeBatch();
    }
  }

  private static void write(PreparedStatement statement, Stored stored) throws SQLException {
    Attempt attempt = stored.attempt;
    Holder holder = attempt.holder();
    statement.setLong(1, attempt.version());
    set(
        statement,
        2,
        List.of(
            holder.namespace(),
            holder.workload(),
            holder.localQueue(),
            holder.clusterQueue(),
            holder.cohortPath(),
            holder.ownerKind(),
            holder.ownerName()));
    set(statement, 9, Optional.of(attempt.times().reservedAt()));
    set(statement, 10, attempt.times().readyAt());
    set(statement, 11, attempt.times().checkpointedAt());
    set(statement, 12, attempt.ending().map(Ending::at));
    statement.setString(13, attempt.ending().map(end -> end.outcome().text()).orElse(null));
    statement.setString(14, attempt.ending().map(Ending::reason).orElse(null));
    statement.setString(15, attempt.uid());
    statement.setInt(16, attempt.number());
    if (stored.present) {
      statement.setLong(17, stored.version);
    }
    statement.addBatch();
  }

  private static void set(PreparedStatement statement, int first, List<String> texts)
      throws SQLException {
    for (int i = 0; i < texts.size(); i++) {
      statement.setString(first + i, texts.get(i));
    }
  }

  private static void writePart(
      PreparedStatement statement, Attempt attempt, int number, int present) throws SQLException {
    Part part = attempt.parts().get(number);
    int place = 1;
    if (number >= present) {
      statement.setString(place++, part.amount().flavor());
      statement.setString(place++, part.amount().resource());
      statement.setLong(place++, part.amount().amount());
      Optional<Baseline> baseline = part.amount().baseline();
      statement.setString(place++, baseline.map(Baseline::flavor).orElse(null));
      statement.setBigDecimal(place++, baseline.map(Baseline::pace).orElse(null));
    }
    set(statement, place++, Optional.of(part.from()));
    set(statement, place++, part.to());
    statement.setString(place++, attempt.uid());
    statement.setInt(place++, attempt.number());
    statement.setInt(place, number);
    statement.addBatch();
  }

  /** The attempts whose end is not known. */
  List<OpenAttempt> open() throws SQLException {
    List<OpenAttempt> open = new ArrayList<>();
    try (PreparedStatement select =
            connection.prepareStatement(
                "SELECT workload_uid, namespace, workload, version FROM sluice_attempt"
                    + " WHERE ended_at IS NULL ORDER BY workload_uid, attempt");
        ResultSet rows = select.executeQuery()) {
      while (rows.next()) {
        open.add(
            new OpenAttempt(
                rows.getString(1), rows.getString(2), rows.getString(3), rows.getLong(4)));
      }
    }
    connection.commit();
    return open;
  }

  /**
   * Those of some finished Workloads whose last attempt is known to have ended for good: not those
   * that were evicted last, because another attempt followed.
   */
  Set<String> ended(List<String> uids) throws SQLException {
    Set<String> ended = new HashSet<>();
    for (Map.Entry<String, Stored> each : last(uids).entrySet()) {
      if (each.getValue()
          .attempt
          .ending()
          .filter(end -> end.outcome() != Outcome.EVICTED)
          .isPresent()) {
        ended.add(each.getKey());
      }
    }
    connection.commit();
    return ended;
  }

  /** The time of the database. */
  Instant now() throws SQLException {
    try (PreparedStatement select = connection.prepareStatement("SELECT CURRENT_TIMESTAMP");
        ResultSet rows = select.executeQuery()) {
      rows.next();
      Instant now = rows.getObject(1, OffsetDateTime.class).toInstant();
      connection.commit();
      return now;
    }
  }

  /**
   * Deletes the attempts that ended before a time.
   *
   * @return how many
   */
  int deleteEndedBefore(Instant time) throws SQLException {
    try (PreparedStatement delete =
        connection.prepareStatement("DELETE FROM sluice_attempt WHERE ended_at < ?")) {
      delete.setLong(1, time.toEpochMilli());
      int deleted = delete.executeUpdate();
      connection.commit();
      return deleted;
    }
  }

  /**
   * Deletes the attempts of a namespace that have ended.
   *
   * @return how many
   */
  int delete(String namespace) throws SQLException {
    try (PreparedStatement delete =
        connection.prepareStatement(
            "DELETE FROM sluice_attempt WHERE namespace = ? AND ended_at IS NOT NULL")) {
      delete.setString(1, namespace);
      int deleted = delete.executeUpdate();
      connection.commit();
      return deleted;
    }
  }

  /**
   * What was used, by the groups of a query, exactly; the sums of all rows are the integral of the
   * amounts over the spans.
   *
   * @param now until when attempts that haven't ended count
   * @param limit how long the database may take for all spans
   * @throws SQLException if the database can't be asked, or takes longer
   */
  UsageRows usage(UsageQuery query, Instant now, Duration limit) throws SQLException {
    Answer answer = new Answer(System.nanoTime() + limit.toNanos(), hasPrices());
    boolean more = false;
    for (Span span : query.spans()) {
      if (more) {
        break;
      }
      more = !usage(query, span, now, answer);
    }
    connection.commit();
    return new UsageRows(answer.rows, more, "");
  }

  /** What was read of an answer. */
  private static final class Answer {
    private final List<UsageRow> rows = new ArrayList<>();
    private final long deadline;
    private final boolean priced;
    private long text;

    Answer(long deadline, boolean priced) {
      this.deadline = deadline;
      this.priced = priced;
    }

    /** Rows that may follow. */
    int room() {
      return UsageQuery.MOST_ROWS - rows.size();
    }

    /** Seconds until the deadline, at least one. */
    int seconds() throws SQLException {
      long left = deadline - System.nanoTime();
      if (left <= 0) {
        throw new SQLTimeoutException("that takes too long; ask for fewer groups or less time");
      }
      return (int) Math.min(Integer.MAX_VALUE, 1 + left / 1_000_000_000L);
    }

    /** Adds a row if there is room for its text. */
    boolean add(UsageRow row) {
      text += row.flavor().length() + row.resource().length();
      for (String value : row.by().values()) {
        text += value.length();
      }
      return text <= UsageQuery.MOST_TEXT && rows.add(row);
    }
  }

  /** Whether there was room for all rows. */
  private boolean usage(UsageQuery query, Span span, Instant now, Answer answer)
      throws SQLException {
    List<UsageRow> rows = new ArrayList<>();
    boolean compared = false;
    int groups = query.groups().size();
    UsageSql sql = new UsageSql(query, span, now);
    try (PreparedStatement select = connection.prepareStatement(sql.uses());
        ResultSet result = asked(select, sql, answer)) {
      while (result.next()) {
        Map<String, String> by = new LinkedHashMap<>();
        for (int i = 0; i < groups; i++) {
          by.put(query.groups().get(i).name(), result.getString(i + 1));
        }
        String resource = result.getString(groups + 2);
        rows.add(
            new UsageRow(
                span,
                by,
                result.getString(groups + 1),
                resource,
                seconds(resource, result.getBigDecimal(groups + 3)),
                seconds(resource, result.getBigDecimal(groups + 4)),
                seconds(resource, result.getBigDecimal(groups + 5)),
                Money.NONE));
        compared |= result.getLong(groups + 6) > 0;
      }
    }
    Map<List<String>, Money> costs = Map.of();
    Map<List<String>, Money> baselines = Map.of();
    if (answer.priced) {
      costs = money(sql, sql.costs(), answer);
      baselines = compared ? money(sql, sql.baselines(), answer) : Map.of();
    }
    for (UsageRow row : rows) {
      List<String> key = new ArrayList<>(row.by().values());
      key.addAll(List.of(row.flavor(), row.resource()));
      Money cost = costs.getOrDefault(key, Money.NONE);
      BigDecimal baseline = baselines.getOrDefault(key, Money.NONE).cost();
      // beside the cost there is what of it is compared with a baseline
      BigDecimal saved = plain(baseline.subtract(cost.saved()));
      if (answer.room() <= 0 || !answer.add(row.with(new Money(cost.cost(), saved)))) {
        return false;
      }
    }
    return true;
  }

  private static ResultSet asked(PreparedStatement select, UsageSql sql, Answer answer)
      throws SQLException {
    select.setQueryTimeout(answer.seconds());
    select.setMaxRows(answer.room() + 1);
    set(select, sql.values());
    return select.executeQuery();
  }

  /** Two sums of money, by the values of the groups, flavor and resource. */
  private Map<List<String>, Money> money(UsageSql sql, String statement, Answer answer)
      throws SQLException {
    Map<List<String>, Money> money = new HashMap<>();
    try (PreparedStatement select = connection.prepareStatement(statement);
        ResultSet result = asked(select, sql, answer)) {
      int keys = result.getMetaData().getColumnCount() - 2;
      while (result.next()) {
        List<String> key = new ArrayList<>();
        for (int i = 1; i <= keys; i++) {
          key.add(result.getString(i));
        }
        money.put(
            key,
            new Money(
                money(result.getBigDecimal(keys + 1)), money(result.getBigDecimal(keys + 2))));
      }
    }
    return money;
  }

  /** Units times seconds, exactly. */
  private static BigDecimal seconds(String resource, BigDecimal amountMillis) {
    return plain(amountMillis.movePointLeft(resource.equals(Quantities.CPU) ? 6 : 3));
  }

  /** What prices for an hour times milliseconds come to. */
  private static BigDecimal money(BigDecimal millis) {
    return plain(millis.divide(HOUR, MathContext.DECIMAL128));
  }

  private static BigDecimal plain(BigDecimal exact) {
    BigDecimal stripped = exact.stripTrailingZeros();
    return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
  }

  private boolean hasPrices() throws SQLException {
    try (PreparedStatement select =
            connection.prepareStatement("SELECT EXISTS (SELECT 1 FROM sluice_price)");
        ResultSet rows = select.executeQuery()) {
      return rows.next() && rows.getBoolean(1);
    }
  }

  /** The prices that count: of a unit of quota for an hour. */
  Map<FlavorResource, BigDecimal> prices() throws SQLException {
    Map<FlavorResource, BigDecimal> prices = new HashMap<>();
    try (PreparedStatement select =
            connection.prepareStatement(
                "SELECT flavor, resource, price FROM sluice_price WHERE until_at IS NULL");
        ResultSet rows = select.executeQuery()) {
      while (rows.next()) {
        prices.put(
            new FlavorResource(rows.getString(1), rows.getString(2)),
            rows.getBigDecimal(3).stripTrailingZeros());
      }
    }
    connection.commit();
    return prices;
  }

  /**
   * Lets other prices count from a time on, all or none.
   *
   * @param prices all that count then, of a unit of quota for an hour
   * @return how many changed
   */
  int setPrices(Map<FlavorResource, BigDecimal> prices, Instant now) throws SQLException {
    Map<FlavorResource, BigDecimal> before = prices();
    int changes = 0;
    try (PreparedStatement end =
            connection.prepareStatement(
                "UPDATE sluice_price SET until_at = GREATEST(since_at, ?)"
                    + " WHERE flavor = ? AND resource = ?"
                    + " AND (until_at IS NULL OR until_at > ?)");
        PreparedStatement forget =
            connection.prepareStatement(
                "DELETE FROM sluice_price WHERE flavor = ? AND resource = ? AND since_at >= ?");
        PreparedStatement begin =
            connection.prepareStatement(
                "INSERT INTO sluice_price (price, since_at, flavor, resource)"
                    + " VALUES (?, ?, ?, ?)")) {
      Set<FlavorResource> all = new HashSet<>(before.keySet());
      all.addAll(prices.keySet());
      for (FlavorResource each : all) {
        BigDecimal old = before.getOrDefault(each, BigDecimal.ZERO);
        BigDecimal price = prices.getOrDefault(each, BigDecimal.ZERO);
        if (old.compareTo(price) == 0) {
          continue;
        }
        changes++;
        end.setLong(1, now.toEpochMilli());
        set(end, 2, List.of(each.flavor(), each.resource()));
        end.setLong(4, now.toEpochMilli());
        end.executeUpdate();
        // a clock that was set back: what was to count later never does, and nothing counts twice
        set(forget, 1, List.of(each.flavor(), each.resource()));
        forget.setLong(3, now.toEpochMilli());
        forget.executeUpdate();
        if (price.signum() > 0) {
          begin.setBigDecimal(1, price);
          begin.setLong(2, now.toEpochMilli());
          set(begin, 3, List.of(each.flavor(), each.resource()));
          begin.executeUpdate();
        }
      }
      connection.commit();
      return changes;
    } catch (SQLException | RuntimeException | Error e) {
      connection.rollback();
      throw e;
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
