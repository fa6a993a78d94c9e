package dev.sluice.ledger;

import dev.sluice.ledger.Attempt.Part;
import dev.sluice.ledger.AttemptObservation.Holder;
import dev.sluice.ledger.AttemptObservation.Outcome;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/**
 * What attempts that have ended used, by days in UTC and groups of them (docs/ledger.md#sums): what
 * is to be added to the sums in a database, or to be taken from them. Not thread-safe.
 */
final class UsageSums {

  /** Milliseconds of a day. */
  static final long DAY = Duration.ofDays(1).toMillis();

  /**
   * The longest times in milliseconds that attempts of a reach lasted. What lasted longer than the
   * last one is in no sum.
   */
  static final List<Long> REACHES =
      List.of(DAY / 24, DAY / 4, DAY, 2 * DAY, 4 * DAY, 8 * DAY, 16 * DAY, 64 * DAY, 1_024 * DAY);

  private static final String GROUP_COLUMNS =
      "id, namespace, local_queue, cluster_queue, cohort_path, owner_kind, outcome, flavor,"
          + " resource, baseline, label_set";

  private final Map<UUID, Group> groups = new HashMap<>();

  /** The names that were worked out: one for each part that is written, and added or taken. */
  private final Map<Group, UUID> ids = new HashMap<>();

  private final LabelSets labelSets = new LabelSets();
  private boolean taken;

  /** In one order for all writers, so that no two of them wait for each other. */
  private final TreeMap<Cell, Sum> sums = new TreeMap<>();

  /** What all amounts of a group have in common; the holder has no names. */
  private record Group(
      Holder holder,
      Optional<UUID> labelSet,
      Outcome outcome,
      String flavor,
      String resource,
      Optional<String> baseline) {

    /** A name that says nothing else: no two groups have the same. */
    UUID id() {
      return LabelSets.digest(
          List.of(
              holder.namespace(),
              holder.localQueue(),
              holder.clusterQueue(),
              holder.cohortPath(),
              holder.ownerKind(),
              outcome.text(),
              flavor,
              resource,
              baseline.map(name -> "=" + name).orElse(""),
              labelSet.map(UUID::toString).orElse("")));
    }
  }

  /** The place of a sum. */
  private record Cell(long day, UUID group) implements Comparable<Cell> {
    @Override
    public int compareTo(Cell other) {
      int byDay = Long.compare(day, other.day);
      return byDay == 0 ? group.compareTo(other.group) : byDay;
    }
  }

  /** Amounts times milliseconds. */
  private record Sum(BigDecimal reserved, BigDecimal run, BigDecimal lost, BigDecimal compared) {

    private Sum plus(Sum other) {
      return new Sum(
          reserved.add(other.reserved),
          run.add(other.run),
          lost.add(other.lost),
          compared.add(other.compared));
    }

    private Sum negate() {
      return new Sum(reserved.negate(), run.negate(), lost.negate(), compared.negate());
    }
  }

  /** How long an attempt that has ended lasted, as an index of {@link #REACHES}. */
  static int reach(Attempt attempt) {
    long length =
        Duration.between(attempt.times().reservedAt(), attempt.ending().orElseThrow().at())
            .toMillis();
    int reach = 0;
    while (reach < REACHES.size() && length > REACHES.get(reach)) {
      reach++;
    }
    return reach;
  }

  /** The set of an attempt's labels, which is written with the sums; empty if it has none. */
  Optional<UUID> labelSet(Attempt attempt) {
    return labelSets.add(attempt.holder().labels());
  }

  /** The group of a part of an attempt; empty if it is in no sum. */
  Optional<UUID> group(Attempt attempt, Part part) {
    return groupOf(attempt, part).map(this::id);
  }

  private UUID id(Group group) {
    return ids.computeIfAbsent(group, Group::id);
  }

  private Optional<Group> groupOf(Attempt attempt, Part part) {
    return attempt
        .ending()
        .filter(any -> reach(attempt) < REACHES.size())
        .map(
            end ->
                new Group(
                    attempt.holder().ofGroup(),
                    labelSet(attempt),
                    end.outcome(),
                    part.amount().flavor(),
                    part.amount().resource(),
                    part.amount().baseline().map(Baseline::flavor)));
  }

  /** Adds what an attempt used, if it has ended. */
  void add(Attempt attempt) {
    attempt.parts().forEach(part -> add(attempt, part, false));
  }

  /** Takes away what a part of an attempt used. */
  void subtract(Attempt attempt, Part part) {
    taken = true;
    add(attempt, part, true);
  }

  private void add(Attempt attempt, Part part, boolean negative) {
    Optional<Group> group = groupOf(attempt, part);
    if (group.isEmpty() || part.amount().amount() == 0) {
      return;
    }
    UUID id = id(group.get());
    long from = part.from().toEpochMilli();
    long to = to(part);
    long runFrom =
        Math.max(from, attempt.times().readyAt().map(at -> at.toEpochMilli()).orElse(to));
    long lostFrom = Math.max(from, attempt.lostAt().map(at -> at.toEpochMilli()).orElse(to));
    BigDecimal amount = BigDecimal.valueOf(part.amount().amount());
    BigDecimal pace = part.amount().baseline().map(Baseline::pace).orElse(BigDecimal.ZERO);
    for (long day = Math.floorDiv(from, DAY) * DAY; day < to; day += DAY) {
      long begin = Math.max(from, day);
      long end = Math.min(to, day + DAY);
      BigDecimal lost = product(amount, end - Math.max(begin, lostFrom));
      BigDecimal reserved = product(amount, end - begin);
      Sum sum =
          new Sum(
              reserved,
              product(amount, end - Math.max(begin, runFrom)),
              lost,
              reserved.subtract(lost).multiply(pace));
      sums.merge(new Cell(day, id), negative ? sum.negate() : sum, Sum::plus);
      groups.putIfAbsent(id, group.get());
    }
  }

  private static BigDecimal product(BigDecimal amount, long millis) {
    return millis <= 0 ? BigDecimal.ZERO : amount.multiply(BigDecimal.valueOf(millis));
  }

  private static long to(Part part) {
    return part.to().orElse(part.from()).toEpochMilli();
  }

  /**
   * Writes the sums and the sets of labels, without a commit.
   *
   * @throws SQLException also if somebody else wrote a group or a sum for the first time meanwhile
   */
  void write(Connection connection) throws SQLException {
    labelSets.write(connection);
    if (sums.isEmpty()) {
      return;
    }
    writeGroups(connection);
    List<Entry<Cell, Sum>> all = List.copyOf(sums.entrySet());
    List<Entry<Cell, Sum>> added = new ArrayList<>();
    try (PreparedStatement update =
            connection.prepareStatement(
                "UPDATE sluice_usage_day SET reserved = reserved + ?, run = run + ?,"
                    + " lost = lost + ?, compared = compared + ?"
                    + " WHERE day_at = ? AND group_id = ?");
        PreparedStatement insert =
            connection.prepareStatement(
                "INSERT INTO sluice_usage_day (reserved, run, lost, compared, day_at, group_id)"
                    + " VALUES (?, ?, ?, ?, ?, ?)");
        PreparedStatement forget =
            connection.prepareStatement(
                "DELETE FROM sluice_usage_day WHERE day_at = ? AND group_id = ?"
                    + " AND reserved = 0 AND run = 0 AND lost = 0 AND compared = 0")) {
      for (Entry<Cell, Sum> each : all) {
        write(update, each);
      }
      int[] counts = update.executeBatch();
      for (int i = 0; i < counts.length; i++) {
        Entry<Cell, Sum> each = all.get(i);
        if (counts[i] == 0) {
          added.add(each);
        } else if (taken) {
          forget.setLong(1, each.getKey().day());
          forget.setObject(2, each.getKey().group());
          forget.addBatch();
        }
      }
      for (Entry<Cell, Sum> each : added) {
        write(insert, each);
      }
      if (!added.isEmpty()) {
        insert.executeBatch();
      }
      forget.executeBatch();
    }
  }

  private static void write(PreparedStatement statement, Entry<Cell, Sum> entry)
      throws SQLException {
    Sum sum = entry.getValue();
    statement.setBigDecimal(1, sum.reserved());
    statement.setBigDecimal(2, sum.run());
    statement.setBigDecimal(3, sum.lost());
    statement.setBigDecimal(4, sum.compared());
    statement.setLong(5, entry.getKey().day());
    statement.setObject(6, entry.getKey().group());
    statement.addBatch();
  }

  private void writeGroups(Connection connection) throws SQLException {
    Map<UUID, Group> missing = new TreeMap<>(groups);
    missing
        .keySet()
        .removeAll(
            LabelSets.known(
                connection,
                "SELECT id FROM sluice_usage_group WHERE id = ANY(?)",
                groups.keySet()));
    if (missing.isEmpty()) {
      return;
    }
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO sluice_usage_group (%s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                .formatted(GROUP_COLUMNS))) {
      for (Entry<UUID, Group> each : missing.entrySet()) {
        Group group = each.getValue();
        Holder holder = group.holder();
        insert.setObject(1, each.getKey());
        insert.setString(2, holder.namespace());
        insert.setString(3, holder.localQueue());
        insert.setString(4, holder.clusterQueue());
        insert.setString(5, holder.cohortPath());
        insert.setString(6, holder.ownerKind());
        insert.setString(7, group.outcome().text());
        insert.setString(8, group.flavor());
        insert.setString(9, group.resource());
        insert.setString(10, group.baseline().orElse(null));
        LabelSets.set(insert, 11, group.labelSet());
        insert.addBatch();
      }
      insert.executeBatch();
    }
  }
}
