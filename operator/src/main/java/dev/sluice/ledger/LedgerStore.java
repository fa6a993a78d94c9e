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
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rows in a database of the schema in {@code migrations}: one kind of SQL for all databases.
 * Not thread-safe; each user opens its own.
 */
final class LedgerStore implements AutoCloseable {

  private static final String ATTEMPT_COLUMNS =
      "id, workload_key, attempt, version, namespace, workload, local_queue, cluster_queue,"
          + " cohort_path, owner_kind, owner_name, reserved_at, ready_at, checkpointed_at,"
          + " ended_at, outcome, reason, assumed, parts, label_set";

  private static final Comparator<Stored> BY_VERSION =
      Comparator.comparingLong(stored -> stored.attempt.version());

  private static final Logger LOG = LoggerFactory.getLogger(LedgerStore.class);

  /** After how many observations the tables have grown so much that PostgreSQL counts them. */
  private static final int ANALYZED_AFTER = 50_000;

  /** How many seconds a page of an export may take. */
  private static final int EXPORT_SECONDS = 30;

  /** How many Workloads one transaction deletes. */
  private static final int CHUNK = 1_000;

  /** How many bits of the number of an amount's row say which of its attempt it is. */
  static final int PART_BITS = 24;

  /** An hour in milliseconds, for which prices are. */
  private static final BigDecimal HOUR = BigDecimal.valueOf(3_600_000);

  /**
   * What open attempts have used. Amounts are joined by the range of their ids alone, of which
   * there is an index: were the id of their attempt compared, too, H2 would read all amounts, and
   * look for the attempt of each.
   */
  static final String OPEN_USE =
      """
      SELECT cluster_queue, flavor, resource,
        SUM(amount * GREATEST(0, to_ms - from_ms)),
        SUM(amount * GREATEST(0, to_ms - GREATEST(from_ms, ready_ms)))
      FROM (SELECT a.cluster_queue, p.flavor, p.resource, CAST(p.amount AS NUMERIC(38)) AS amount,
          GREATEST(p.from_at, CAST(? AS BIGINT)) AS from_ms,
          LEAST(COALESCE(p.to_at, CAST(? AS BIGINT)), CAST(? AS BIGINT)) AS to_ms,
          COALESCE(a.ready_at, CAST(? AS BIGINT)) AS ready_ms
        FROM sluice_attempt a JOIN sluice_attempt_amount p
          ON p.id >= a.id * %1$d AND p.id < (a.id + 1) * %1$d
        WHERE a.reach IS NULL) AS used
      GROUP BY cluster_queue, flavor, resource\
      """
          .formatted(1L << PART_BITS);

  private final Connection connection;
  private int notAnalyzed;

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
  record OpenAttempt(String key, String namespace, String workload, long version) {}

  /**
   * Adds observations, all or none. Those that were added before change nothing.
   *
   * @return the attempts that ended
   * @throws SQLException if nothing was added; also if somebody else changed an attempt meanwhile,
   *     so that the observations have to be added again
   */
  List<Attempt> add(List<AttemptObservation> observations) throws SQLException {
    return add(observations, true);
  }

  /**
   * Adds observations.
   *
   * @param leading whether they are the leader's; what others saw begin and not end isn't begun
   *     again in a namespace of which attempts were deleted since
   * @return the attempts that ended
   */
  List<Attempt> add(List<AttemptObservation> observations, boolean leading) throws SQLException {
    List<Attempt> ended = inTransaction(() -> addAll(observations, leading));
    notAnalyzed += observations.size();
    if (notAnalyzed >= ANALYZED_AFTER) {
      notAnalyzed = 0;
      analyze();
    }
    return ended;
  }

  /**
   * Lets PostgreSQL count what was added: of tables that have grown since it looked by itself, it
   * reads all where an index would do.
   */
  private void analyze() {
    try {
      if (connection.getMetaData().getDatabaseProductName().equals("PostgreSQL")) {
        inTransaction(
            () -> {
              try (PreparedStatement analyze =
                  connection.prepareStatement(
                      "ANALYZE sluice_attempt, sluice_attempt_amount, sluice_usage_day,"
                          + " sluice_usage_group")) {
                return analyze.execute();
              }
            });
      }
    } catch (SQLException e) {
      LOG.debug("ledger analyzed=false", e); // answers are slower until the server looks itself
    }
  }

  private List<Attempt> addAll(List<AttemptObservation> observations, boolean leading)
      throws SQLException {
    Map<String, List<Stored>> known = known(observations);
    Set<Stored> changed = new LinkedHashSet<>();
    for (AttemptObservation observation : observations) {
      List<Stored> ofWorkload =
          known.computeIfAbsent(observation.workload(), any -> new ArrayList<>(1));
      List<Attempt> attempts = ofWorkload.stream().map(stored -> stored.attempt).toList();
      for (Attempt attempt : Attempt.after(attempts, observation)) {
        Stored stored =
            ofWorkload.stream()
                .filter(it -> it.attempt.number() == attempt.number())
                .findAny()
                .orElse(null);
        if (stored == null) {
          stored = new Stored(attempt);
          ofWorkload.add(stored);
        }
        stored.attempt = attempt;
        changed.add(stored);
      }
      ofWorkload.sort(BY_VERSION);
    }
    UsageSums sums = new UsageSums();
    List<Attempt> ended = new ArrayList<>();
    List<Stored> kept = new ArrayList<>();
    List<Stored> deleted = new ArrayList<>();
    Map<String, Instant> deletions = deletions(changed);
    for (Stored stored : changed) {
      stored.summed.forEach(part -> sums.subtract(stored.before.orElseThrow(), part));
      boolean isNew = stored.before.isEmpty();
      if (stored.isDeleted(deletions, leading)) {
        if (isNew) {
          continue; // it counted before it was deleted
        }
        deleted.add(stored);
      } else {
        kept.add(stored);
        sums.add(stored.attempt);
      }
      if (!stored.attempt.isOpen() && (isNew || stored.before.orElseThrow().isOpen())) {
        ended.add(stored.attempt);
      }
    }
    deleteRows(deleted);
    write(kept, sums);
    if (!deleted.isEmpty()) {
      forgetGroups();
    }
    return ended;
  }

  /** When attempts of the namespaces of some were deleted last. */
  private Map<String, Instant> deletions(Collection<Stored> some) throws SQLException {
    Map<String, Instant> deletions = new HashMap<>();
    if (some.isEmpty()) {
      return deletions;
    }
    // read after the attempts: who finds one of them deleted finds the deletion, too
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT namespace, deleted_at FROM sluice_deletion WHERE namespace = ANY(?)")) {
      select.setArray(
          1,
          connection.createArrayOf(
              "VARCHAR",
              some.stream()
                  .map(stored -> stored.attempt.holder().namespace())
                  .distinct()
                  .toArray()));
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          deletions.put(rows.getString(1), Instant.ofEpochMilli(rows.getLong(2)));
        }
      }
    }
    return deletions;
  }

  /** The attempts of Workloads that matter for what was observed, in the order of versions. */
  private Map<String, List<Stored>> known(List<AttemptObservation> observations)
      throws SQLException {
    Map<String, List<Stored>> known =
        last(observations.stream().map(AttemptObservation::workload).distinct().toList());
    List<String> late =
        observations.stream()
            .filter(
                observation -> {
                  List<Stored> last = known.getOrDefault(observation.workload(), List.of());
                  return !last.isEmpty() && last.getLast().attempt.isAfter(observation);
                })
            .map(AttemptObservation::workload)
            .distinct()
            .toList();
    known.putAll(byWorkload(read(late, "TRUE", Optional.empty(), "", false)));
    return known;
  }

  /** An attempt, and what of it is in the database. */
  private static final class Stored {

    private Attempt attempt;

    /** The number of its row; 0 until it has one. */
    private long id;

    /** As it is in the database; empty if it isn't there. */
    private final Optional<Attempt> before;

    /** Those of its parts that are in the sums. */
    private final List<Part> summed;

    /** One that isn't in the database. */
    Stored(Attempt attempt) {
      this.attempt = attempt;
      this.before = Optional.empty();
      this.summed = List.of();
    }

    Stored(long id, Attempt attempt, List<Part> summed) {
      this.id = id;
      this.attempt = attempt;
      this.before = Optional.of(attempt);
      this.summed = summed;
    }

    /** Whether a part is in the database as it is. */
    boolean has(int part) {
      return attempt.isOpen()
          && part < parts()
          && before.filter(Attempt::isOpen).isPresent()
          && before.orElseThrow().parts().get(part).equals(attempt.parts().get(part));
    }

    /**
     * Whether it was deleted with those of its namespace that had ended.
     *
     * @param deletions when those were deleted, by namespace
     * @param leading whether the leader speaks of it; others may not have seen the end of what they
     *     saw begin
     */
    boolean isDeleted(Map<String, Instant> deletions, boolean leading) {
      Instant deletedAt = deletions.get(attempt.holder().namespace());
      if (deletedAt == null) {
        return false;
      }
      boolean endIsUnknown = attempt.isOpen() || attempt.assumed();
      Instant last =
          before.isEmpty() && !leading && endIsUnknown
              ? attempt.times().reservedAt()
              : attempt.ending().map(Ending::at).orElse(Instant.MAX);
      return !last.isAfter(deletedAt);
    }

    /** How many of its parts are in the database. */
    int parts() {
      return before.map(stored -> stored.parts().size()).orElse(0);
    }
  }

  /**
   * The last attempts of Workloads, and those that were added last: one that somebody else observed
   * may be added later than the one that followed it.
   */
  private Map<String, List<Stored>> last(List<String> keys) throws SQLException {
    // the database would look for the last ones of a Workload at each of its attempts
    return byWorkload(read(keys, "TRUE", Optional.empty(), "", true));
  }

  private static Map<String, List<Stored>> byWorkload(List<Stored> all) {
    Map<String, List<Stored>> result = new HashMap<>();
    for (Stored stored : all) {
      result.computeIfAbsent(stored.attempt.workload(), any -> new ArrayList<>(1)).add(stored);
    }
    result.values().forEach(ofWorkload -> ofWorkload.sort(BY_VERSION));
    return result;
  }

  /** Attempts that nobody else deletes or adds to the sums before this transaction ends. */
  private List<Stored> locked(List<String> keys, String condition, Optional<String> value)
      throws SQLException {
    return read(keys, condition, value, " FOR UPDATE", false);
  }

  /**
   * Attempts of Workloads for which a condition holds, in their order. They are read before their
   * parts, so that parts are as they are after a lock was had.
   *
   * @param lastOnly whether only the last attempt of each Workload is wanted, and the one with the
   *     last version
   */
  private List<Stored> read(
      List<String> keys, String condition, Optional<String> value, String suffix, boolean lastOnly)
      throws SQLException {
    if (keys.isEmpty()) {
      return List.of();
    }
    List<AttemptRow> attemptRows = new ArrayList<>();
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT "
                + ATTEMPT_COLUMNS
                + " FROM sluice_attempt a WHERE a.workload_key = ANY(?) AND "
                + condition
                + " ORDER BY a.workload_key, a.attempt"
                + suffix)) {
      select.setArray(1, connection.createArrayOf("VARCHAR", keys.toArray()));
      if (value.isPresent()) {
        select.setString(2, value.get());
      }
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          attemptRows.add(
              new AttemptRow(
                  rows.getLong(1),
                  attempt(rows),
                  rows.getInt(19),
                  Optional.ofNullable(rows.getObject(20, UUID.class))));
          if (lastOnly) {
            forgetEarlier(attemptRows);
          }
        }
      }
    }
    if (attemptRows.isEmpty()) {
      return List.of(); // as it is with most Workloads that begin
    }
    List<Long> partIds = new ArrayList<>();
    Set<UUID> labelSets = new HashSet<>();
    for (AttemptRow row : attemptRows) {
      for (int part = 0; part < row.parts(); part++) {
        partIds.add(partId(row.id(), part));
      }
      row.labelSet().ifPresent(labelSets::add);
    }
    Map<Long, List<Part>> parts = new HashMap<>();
    Map<Long, List<Part>> summed = new HashMap<>();
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT attempt_id, flavor, resource, amount, from_at, to_at, baseline,"
                + " baseline_pace, group_id FROM sluice_attempt_amount"
                + " WHERE id = ANY(?) ORDER BY id")) {
      select.setArray(1, connection.createArrayOf("BIGINT", partIds.toArray()));
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          Part part =
              new Part(
                  new Amount(rows.getString(2), rows.getString(3), rows.getLong(4), baseline(rows)),
                  Instant.ofEpochMilli(rows.getLong(5)),
                  time(rows, 6));
          parts.computeIfAbsent(rows.getLong(1), any -> new ArrayList<>()).add(part);
          rows.getObject(9);
          if (!rows.wasNull()) {
            summed.computeIfAbsent(rows.getLong(1), any -> new ArrayList<>()).add(part);
          }
        }
      }
    }
    Map<UUID, Map<String, String>> labels = LabelSets.read(connection, labelSets);
    return attemptRows.stream()
        .map(
            row ->
                new Stored(
                    row.id(),
                    row.attempt()
                        .with(
                            row.labelSet().map(labels::get).orElse(Map.of()),
                            parts.getOrDefault(row.id(), List.of())),
                    summed.getOrDefault(row.id(), List.of())))
        .toList();
  }

  /**
   * What the row of an attempt says.
   *
   * @param attempt without labels and parts
   * @param parts how many parts it has
   */
  private record AttemptRow(long id, Attempt attempt, int parts, Optional<UUID> labelSet) {}

  /**
   * Forgets those of the Workload that was read last which are neither its last attempt nor have
   * its last version.
   *
   * @param attemptRows in the order of Workloads and attempts
   */
  private static void forgetEarlier(List<AttemptRow> attemptRows) {
    AttemptRow last = attemptRows.getLast();
    int from = attemptRows.size();
    while (from > 0
        && attemptRows.get(from - 1).attempt().workload().equals(last.attempt().workload())) {
      from--;
    }
    List<AttemptRow> ofWorkload = attemptRows.subList(from, attemptRows.size());
    long version =
        ofWorkload.stream().mapToLong(row -> row.attempt().version()).max().orElseThrow();
    ofWorkload.removeIf(row -> row != last && row.attempt().version() < version);
  }

  /** The number of the row of a part: rows of an attempt are beside each other. */
  private static long partId(long attemptId, int part) {
    return attemptId << PART_BITS | part;
  }

  /** An attempt without its labels and parts. */
  private static Attempt attempt(ResultSet rows) throws SQLException {
    String outcome = rows.getString(16);
    Optional<Instant> endedAt = time(rows, 15);
    return new Attempt(
        rows.getString(2),
        rows.getInt(3),
        rows.getLong(4),
        new Holder(
            rows.getString(5),
            rows.getString(6),
            rows.getString(7),
            rows.getString(8),
            rows.getString(9),
            rows.getString(10),
            rows.getString(11),
            Map.of()),
        new Times(Instant.ofEpochMilli(rows.getLong(12)), time(rows, 13), time(rows, 14)),
        endedAt.isEmpty()
            ? Optional.empty()
            : Optional.of(new Ending(endedAt.get(), Outcome.of(outcome), text(rows.getString(17)))),
        rows.getBoolean(18),
        List.of());
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

  private static void set(PreparedStatement statement, int place, Optional<Instant> time)
      throws SQLException {
    if (time.isPresent()) {
      statement.setLong(place, time.get().toEpochMilli());
    } else {
      statement.setNull(place, Types.BIGINT);
    }
  }

  private void write(Collection<Stored> changed, UsageSums sums) throws SQLException {
    try (PreparedStatement insert =
            connection.prepareStatement(
                "INSERT INTO sluice_attempt (version, namespace, workload, local_queue,"
                    + " cluster_queue, cohort_path, owner_kind, owner_name, reserved_at, ready_at,"
                    + " checkpointed_at, ended_at, outcome, reason, assumed, parts, label_set,"
                    + " reach, id, workload_key, attempt)"
                    + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        PreparedStatement update =
            connection.prepareStatement(
                "UPDATE sluice_attempt SET version = ?, namespace = ?, workload = ?,"
                    + " local_queue = ?, cluster_queue = ?, cohort_path = ?, owner_kind = ?,"
                    + " owner_name = ?, reserved_at = ?, ready_at = ?, checkpointed_at = ?,"
                    + " ended_at = ?, outcome = ?, reason = ?, assumed = ?, parts = ?,"
                    + " label_set = ?, reach = ?"
                    // whatever changes an attempt changes one of these
                    + " WHERE id = ? AND version = ?"
                    + " AND COALESCE(ended_at, -1) = ?");
        PreparedStatement insertPart =
            connection.prepareStatement(
                "INSERT INTO sluice_attempt_amount (flavor, resource, amount, baseline,"
                    + " baseline_pace, from_at, to_at, group_id, id, attempt_id)"
                    + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        PreparedStatement updatePart =
            connection.prepareStatement(
                "UPDATE sluice_attempt_amount SET from_at = ?, to_at = ?, group_id = ?"
                    + " WHERE id = ?")) {
      long last = lastId();
      for (Stored stored : changed) {
        Attempt attempt = stored.attempt;
        if (stored.before.isEmpty()) {
          stored.id = ++last;
        }
        write(stored.before.isPresent() ? update : insert, stored, sums.labelSet(attempt));
        for (int part = 0; part < attempt.parts().size(); part++) {
          if (stored.has(part)) {
            continue;
          }
          PreparedStatement writing = part < stored.parts() ? updatePart : insertPart;
          writePart(writing, stored, part, sums.group(attempt, attempt.parts().get(part)));
        }
      }
      // an attempt that another process began at the same time violates the key
      insert.executeBatch();
      requireUnchanged(update.executeBatch());
      insertPart.executeBatch();
      updatePart.executeBatch();
    }
    sums.write(connection);
  }

  private static void requireUnchanged(int[] counts) throws SQLException {
    for (int count : counts) {
      if (count == 0) {
        throw new SQLTransientException("somebody else changed an attempt meanwhile");
      }
    }
  }

  /** The number of the last row of an attempt. */
  private long lastId() throws SQLException {
    try (PreparedStatement select =
            connection.prepareStatement("SELECT COALESCE(MAX(id), 0) FROM sluice_attempt");
        ResultSet rows = select.executeQuery()) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private static void write(PreparedStatement statement, Stored stored, Optional<UUID> labelSet)
      throws SQLException {
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
    statement.setBoolean(15, attempt.assumed());
    statement.setInt(16, attempt.parts().size());
    LabelSets.set(statement, 17, labelSet);
    if (attempt.isOpen()) {
      statement.setNull(18, Types.SMALLINT);
    } else {
      statement.setInt(18, UsageSums.reach(attempt));
    }
    statement.setLong(19, stored.id);
    if (stored.before.isEmpty()) {
      statement.setString(20, attempt.workload());
      statement.setInt(21, attempt.number());
    } else {
      setBefore(statement, 20, stored.before.get());
    }
    statement.addBatch();
  }

  /** Sets what of an attempt must be as it was read. */
  private static void setBefore(PreparedStatement statement, int place, Attempt before)
      throws SQLException {
    statement.setLong(place, before.version());
    statement.setLong(place + 1, before.ending().map(end -> end.at().toEpochMilli()).orElse(-1L));
  }

  /** Sets parameters that are texts, or lists of them. */
  private static void set(PreparedStatement statement, int first, List<?> values)
      throws SQLException {
    for (int i = 0; i < values.size(); i++) {
      if (values.get(i) instanceof List<?> texts) {
        statement.setArray(
            first + i, statement.getConnection().createArrayOf("VARCHAR", texts.toArray()));
      } else {
        statement.setString(first + i, values.get(i).toString());
      }
    }
  }

  private static void writePart(
      PreparedStatement statement, Stored stored, int number, Optional<UUID> group)
      throws SQLException {
    Attempt attempt = stored.attempt;
    Part part = attempt.parts().get(number);
    int place = 1;
    if (number >= stored.parts()) {
      statement.setString(place++, part.amount().flavor());
      statement.setString(place++, part.amount().resource());
      statement.setLong(place++, part.amount().amount());
      Optional<Baseline> baseline = part.amount().baseline();
      statement.setString(place++, baseline.map(Baseline::flavor).orElse(null));
      statement.setBigDecimal(place++, baseline.map(Baseline::pace).orElse(null));
    }
    set(statement, place++, Optional.of(part.from()));
    set(statement, place++, part.to());
    LabelSets.set(statement, place++, group);
    statement.setLong(place++, partId(stored.id, number));
    if (number >= stored.parts()) {
      statement.setLong(place, stored.id);
    }
    statement.addBatch();
  }

  /** The attempts whose end is not known. */
  List<OpenAttempt> open() throws SQLException {
    List<OpenAttempt> open = new ArrayList<>();
    try (PreparedStatement select =
            connection.prepareStatement(
                "SELECT workload_key, namespace, workload, version FROM sluice_attempt"
                    + " WHERE reach IS NULL ORDER BY workload_key, attempt");
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
   * What open attempts have used between two times, in amounts times milliseconds; nothing of it is
   * lost so far.
   */
  Map<UsageTally.Series, Ledger.Use> openUse(Instant since, Instant now) throws SQLException {
    Map<UsageTally.Series, Ledger.Use> result = new HashMap<>();
    try (PreparedStatement select = connection.prepareStatement(OPEN_USE)) {
      select.setLong(1, since.toEpochMilli());
      for (int parameter = 2; parameter <= 4; parameter++) {
        select.setLong(parameter, now.toEpochMilli());
      }
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          double reserved = rows.getDouble(4);
          double run = rows.getDouble(5);
          result.put(
              new UsageTally.Series(rows.getString(1), rows.getString(2), rows.getString(3)),
              new Ledger.Use(reserved, run, reserved - run, 0));
        }
      }
    }
    connection.commit();
    return result;
  }

  /**
   * Those of some finished Workloads whose last attempt is known to have ended for good: not those
   * that were evicted last, because another attempt followed.
   */
  Set<String> ended(List<String> keys) throws SQLException {
    Set<String> ended = new HashSet<>();
    for (Map.Entry<String, List<Stored>> each : last(keys).entrySet()) {
      if (each.getValue()
          .getLast()
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
   * Deletes the attempts that ended before a time, and what only they needed: prices, and when
   * attempts of namespaces were deleted.
   *
   * @return how many attempts
   */
  int deleteEndedBefore(Instant time) throws SQLException {
    int deleted = 0;
    for (int reach = 0; reach <= UsageSums.REACHES.size(); reach++) {
      // what began later is not read
      deleted +=
          delete(
              "a.reach = %1$d AND a.reserved_at < %2$d AND a.ended_at < %2$d"
                  .formatted(reach, time.toEpochMilli()),
              Optional.empty());
    }
    inTransaction(() -> forgetBefore(time));
    return deleted;
  }

  /** Deletes what attempts that ended before a time needed; returns how many rows. */
  private int forgetBefore(Instant time) throws SQLException {
    try (PreparedStatement prices =
            connection.prepareStatement("DELETE FROM sluice_price WHERE until_at <= ?");
        PreparedStatement deletions =
            connection.prepareStatement("DELETE FROM sluice_deletion WHERE deleted_at < ?")) {
      prices.setLong(1, Math.min(time.toEpochMilli(), firstReservedAt()));
      deletions.setLong(1, time.toEpochMilli());
      return prices.executeUpdate() + deletions.executeUpdate();
    }
  }

  /** When the first of all attempts began. */
  private long firstReservedAt() throws SQLException {
    long first = Long.MAX_VALUE;
    for (int reach = -1; reach <= UsageSums.REACHES.size(); reach++) {
      try (PreparedStatement select =
              connection.prepareStatement(
                  "SELECT reserved_at FROM sluice_attempt WHERE reach %s"
                          .formatted(reach < 0 ? "IS NULL" : "= " + reach)
                      + " ORDER BY reach, reserved_at FETCH FIRST 1 ROWS ONLY");
          ResultSet rows = select.executeQuery()) {
        if (rows.next()) {
          first = Math.min(first, rows.getLong(1));
        }
      }
    }
    return first;
  }

  /**
   * Deletes the attempts of a namespace that have ended. None that ended by now is written again,
   * whoever still remembers it.
   *
   * @return how many
   */
  int delete(String namespace, Instant now) throws SQLException {
    inTransaction(() -> deleted(namespace, now));
    return delete("a.reach IS NOT NULL AND a.namespace = ?", Optional.of(namespace));
  }

  /** Writes down that attempts of a namespace were deleted; returns how many rows that took. */
  private int deleted(String namespace, Instant now) throws SQLException {
    try (PreparedStatement update =
            connection.prepareStatement(
                "UPDATE sluice_deletion SET deleted_at = GREATEST(deleted_at, ?)"
                    + " WHERE namespace = ?");
        PreparedStatement insert =
            connection.prepareStatement(
                "INSERT INTO sluice_deletion (deleted_at, namespace) VALUES (?, ?)")) {
      for (PreparedStatement each : List.of(update, insert)) {
        each.setLong(1, now.toEpochMilli());
        each.setString(2, namespace);
      }
      int updated = update.executeUpdate();
      return updated > 0 ? updated : insert.executeUpdate();
    }
  }

  /**
   * Attempts of a namespace that have ended, at most so many, in the order in which they began.
   *
   * @param after the number of the attempt behind which they begin; 0 for the first ones
   */
  AttemptPage attempts(String namespace, long after, int most) throws SQLException {
    long last = after;
    int count = 0;
    Set<String> keys = new LinkedHashSet<>();
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT id, workload_key FROM sluice_attempt WHERE namespace = ?"
                + " AND reach IS NOT NULL AND id > ? ORDER BY id FETCH FIRST %d ROWS ONLY"
                    .formatted(most))) {
      select.setQueryTimeout(EXPORT_SECONDS);
      select.setString(1, namespace);
      select.setLong(2, after);
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          last = rows.getLong(1);
          keys.add(rows.getString(2));
          count++;
        }
      }
    }
    List<Stored> read =
        read(
            List.copyOf(keys),
            "a.namespace = ? AND a.reach IS NOT NULL AND a.id > %d AND a.id <= %d"
                .formatted(after, last),
            Optional.of(namespace),
            "",
            false);
    connection.commit();
    return new AttemptPage(
        read.stream()
            .sorted(Comparator.comparingLong(stored -> stored.id))
            .map(stored -> stored.attempt)
            .toList(),
        count < most ? 0 : last);
  }

  /**
   * Some attempts.
   *
   * @param next the number of the last one; 0 if there are no more
   */
  record AttemptPage(List<Attempt> attempts, long next) {}

  /** Deletes attempts, and takes them from the sums: some in each transaction. */
  private int delete(String condition, Optional<String> value) throws SQLException {
    int deleted = 0;
    for (int more = 1; more > 0; deleted += more) {
      more = inTransaction(() -> deleteSome(condition, value));
    }
    if (deleted > 0) {
      inTransaction(this::forgetGroups);
    }
    return deleted;
  }

  /** Deletes the groups and labels that nothing is in any more; returns how many. */
  private int forgetGroups() throws SQLException {
    try (PreparedStatement forget =
        connection.prepareStatement(
            "DELETE FROM sluice_usage_group WHERE id NOT IN (SELECT group_id FROM"
                + " sluice_usage_day)")) {
      return forget.executeUpdate() + LabelSets.forget(connection);
    }
  }

  private int deleteSome(String condition, Optional<String> value) throws SQLException {
    List<String> keys = new ArrayList<>();
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT DISTINCT a.workload_key FROM sluice_attempt a WHERE %s FETCH FIRST %d ROWS ONLY"
                .formatted(condition, CHUNK))) {
      if (value.isPresent()) {
        select.setString(1, value.get());
      }
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          keys.add(rows.getString(1));
        }
      }
    }
    List<Stored> all = locked(keys, condition, value);
    UsageSums sums = new UsageSums();
    for (Stored each : all) {
      each.summed.forEach(part -> sums.subtract(each.attempt, part));
    }
    deleteRows(all);
    sums.write(connection);
    return all.size();
  }

  /** Deletes the rows of attempts that are as they were read, without a commit. */
  private void deleteRows(List<Stored> all) throws SQLException {
    if (all.isEmpty()) {
      return;
    }
    try (PreparedStatement delete =
            connection.prepareStatement(
                "DELETE FROM sluice_attempt WHERE id = ? AND version = ?"
                    + " AND COALESCE(ended_at, -1) = ?");
        PreparedStatement deleteParts =
            connection.prepareStatement(
                "DELETE FROM sluice_attempt_amount WHERE id >= ? AND id < ?")) {
      for (Stored each : all) {
        delete.setLong(1, each.id);
        setBefore(delete, 2, each.before.orElseThrow());
        delete.addBatch();
        deleteParts.setLong(1, partId(each.id, 0));
        deleteParts.setLong(2, partId(each.id + 1, 0));
        deleteParts.addBatch();
      }
      deleteParts.executeBatch();
      requireUnchanged(delete.executeBatch());
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
    Answer answer = new Answer(System.nanoTime() + limit.toNanos(), priceTimes());
    boolean more = false;
    for (Span span : query.spans()) {
      if (more) {
        break;
      }
      more = !usage(query, span, now, answer);
    }
    connection.commit();
    return new UsageRows(answer.rows, more, "", List.of());
  }

  /** What was read of an answer. */
  private static final class Answer {
    private final List<UsageRow> rows = new ArrayList<>();
    private final long deadline;
    private final boolean priced;
    private long text;

    /** The begins of the days within which a price begins or ends. */
    private final NavigableSet<Long> priceChanges = new TreeSet<>();

    Answer(long deadline, Set<Long> priceTimes) {
      this.deadline = deadline;
      this.priced = !priceTimes.isEmpty();
      for (long time : priceTimes) {
        long day = Math.floorDiv(time, UsageSums.DAY) * UsageSums.DAY;
        if (time > day) {
          priceChanges.add(day);
        }
      }
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
    UsageSql sql = new UsageSql(query, span, now, answer.priceChanges);
    UsageSql.Statement uses = sql.uses();
    try (PreparedStatement select = connection.prepareStatement(uses.text());
        ResultSet result = asked(select, uses, answer)) {
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
      costs = money(sql.costs(), answer);
      baselines = compared ? money(sql.baselines(), answer) : Map.of();
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

  private static ResultSet asked(
      PreparedStatement select, UsageSql.Statement statement, Answer answer) throws SQLException {
    select.setQueryTimeout(answer.seconds());
    select.setMaxRows(answer.room() + 1);
    set(select, 1, statement.values());
    return select.executeQuery();
  }

  /** Two sums of money, by the values of the groups, flavor and resource. */
  private Map<List<String>, Money> money(UsageSql.Statement statement, Answer answer)
      throws SQLException {
    Map<List<String>, Money> money = new HashMap<>();
    try (PreparedStatement select = connection.prepareStatement(statement.text());
        ResultSet result = asked(select, statement, answer)) {
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
  /** An amount in cores, or in units of other resources, as a text without an exponent. */
  static String units(String resource, BigDecimal amount) {
    return plain(resource.equals(Quantities.CPU) ? amount.movePointLeft(3) : amount)
        .toPlainString();
  }

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

  /** When prices begin and end. */
  private Set<Long> priceTimes() throws SQLException {
    Set<Long> times = new HashSet<>();
    try (PreparedStatement select =
            connection.prepareStatement("SELECT since_at, until_at FROM sluice_price");
        ResultSet rows = select.executeQuery()) {
      while (rows.next()) {
        times.add(rows.getLong(1));
        time(rows, 2).ifPresent(until -> times.add(until.toEpochMilli()));
      }
    }
    return times;
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
    return inTransaction(() -> changePrices(before, prices, now));
  }

  private int changePrices(
      Map<FlavorResource, BigDecimal> before, Map<FlavorResource, BigDecimal> prices, Instant now)
      throws SQLException {
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
      return changes;
    }
  }

  /** What is done in one transaction. */
  @FunctionalInterface
  private interface Work<T> {
    T run() throws SQLException;
  }

  /** Does all of some work or nothing. */
  private <T> T inTransaction(Work<T> work) throws SQLException {
    try {
      T result = work.run();
      connection.commit();
      return result;
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
