package dev.sluice.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The sums of days are the sums of the rows of attempts that have ended, whatever is done to rows.
 *
 * <p>{@code -Dsluice.property.factor} says how many worlds there are.
 */
class UsageSumsTest {

  private static final int WORLDS = Integer.getInteger("sluice.property.factor", 1) * 6;
  private static final int STEPS = 400;
  private static final Duration LIMIT = Duration.ofMinutes(1);

  @TempDir private Path directory;

  @TestFactory
  Stream<DynamicTest> sumsAreThoseOfTheRows() {
    return IntStream.rangeClosed(1, WORLDS)
        .mapToObj(
            seed ->
                DynamicTest.dynamicTest(
                    "seed " + seed,
                    () ->
                        compare(
                            seed,
                            new LedgerDatabase(
                                LedgerStoreTest.options(directory.resolve("world-" + seed))))));
  }

  /** Does things at random to the rows of a world, and compares after each of them. */
  static void compare(int seed, LedgerDatabase database) throws Exception {
    Random random = new Random(seed);
    RandomUses world = new RandomUses(random, STEPS / 10, STEPS);
    List<AttemptObservation> all = world.observations();
    DataSource source = database.dataSource();
    LedgerStore store = database.migrated();
    try {
      int told = 0;
      while (told < all.size()) {
        int until = Math.min(all.size(), told + random.nextInt(1, 80));
        List<AttemptObservation> next = all.subList(told, until);
        switch (random.nextInt(7)) {
          case 0 -> {
            // a process died: what it had not forgotten is told again
            store.close();
            store = database.migrated();
            told = Math.max(0, told - random.nextInt(80));
          }
          case 1 -> store.deleteEndedBefore(all.get(told).observedAt().minus(Duration.ofDays(2)));
          case 2 ->
              store.delete(
                  random.nextBoolean() ? "namespace" : "another", all.get(told).observedAt());
          case 3 -> {
            // the database fails somewhere within the transaction
            try (LedgerStore broken =
                new LedgerStore(failing(source.getConnection(), random.nextInt(1, 12)))) {
              broken.add(next);
            } catch (SQLTransientException expected) {
              assertThat(expected.getMessage()).isEqualTo("failed");
            }
          }
          case 4 -> {
            // another leader has written the same before
            try (LedgerStore other = database.connect()) {
              other.add(next);
            }
            store.add(next);
          }
          default -> {
            store.add(next);
            told = until;
          }
        }
        assertThat(sums(source)).as("%d told", told).isEqualTo(rows(source));
      }
      assertThat(sums(source)).as("there are sums").isNotEmpty();
      check(store, world);
      store.deleteEndedBefore(world.now().plusSeconds(1));
      assertThat(sums(source)).isEmpty();
      assertThat(count(source, "sluice_usage_group")).isZero();
    } finally {
      store.close();
    }
  }

  /** Any span by days, which reads sums, is as by owner, which reads rows only. */
  private static void check(LedgerStore store, RandomUses world) throws SQLException {
    Map<String, List<BigDecimal>> ofSums = new TreeMap<>();
    Map<String, List<BigDecimal>> ofRows = new TreeMap<>();
    for (String by : List.of("queue,outcome,label:team", "queue,outcome,label:team,owner")) {
      UsageQuery query =
          UsageQuery.of(
              by,
              RandomUses.BEGIN.plusMillis(12_345_678),
              world.now().minusMillis(12_345_678),
              Optional.empty());
      for (UsageRows.UsageRow row : store.usage(query, world.now(), LIMIT).rows()) {
        assertThat(
                (by.contains("owner") ? ofRows : ofSums)
                    .put(
                        "%s %s %s %s %s"
                            .formatted(
                                row.by().get("queue"),
                                row.by().get("outcome"),
                                row.by().get("label:team"),
                                row.flavor(),
                                row.resource()),
                        List.of(row.reserved(), row.run(), row.lost())))
            .isNull();
      }
    }
    assertThat(ofSums).isEqualTo(ofRows);
  }

  /** A connection whose nth batch fails. */
  private static Connection failing(Connection connection, int batch) {
    int[] left = {batch};
    return proxy(
        Connection.class,
        connection,
        (result, name) ->
            name.equals("prepareStatement")
                ? proxy(
                    PreparedStatement.class,
                    (PreparedStatement) result,
                    (counts, method) -> {
                      if (method.equals("executeBatch") && --left[0] == 0) {
                        throw new SQLTransientException("failed");
                      }
                      return counts;
                    })
                : result);
  }

  /** Changes what a method has answered, or throws after it did its work. */
  private interface Change {
    Object of(Object result, String method) throws SQLException;
  }

  private static <T> T proxy(Class<T> type, T of, Change change) {
    return type.cast(
        Proxy.newProxyInstance(
            UsageSumsTest.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                return change.of(method.invoke(of, arguments), method.getName());
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  private static long count(DataSource source, String table) throws SQLException {
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM " + table)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  /** The sums of the database. */
  static Map<String, List<BigDecimal>> sums(DataSource source) throws SQLException {
    Map<String, List<BigDecimal>> sums = new TreeMap<>();
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT s.day_at, a.cluster_queue, a.cohort_path, a.outcome, a.flavor, a.resource,"
                    + " a.baseline, l.label_value, s.reserved, s.run, s.lost, s.compared"
                    + " FROM sluice_usage_day s JOIN sluice_usage_group a ON a.id = s.group_id"
                    + " LEFT JOIN sluice_label l ON l.label_set = a.label_set")) {
      while (rows.next()) {
        List<BigDecimal> values = new ArrayList<>();
        for (int i = 9; i <= 12; i++) {
          values.add(plain(rows.getBigDecimal(i)));
        }
        assertThat(sums.put(key(rows), values)).as("one of each").isNull();
      }
    }
    return sums;
  }

  private static String key(ResultSet rows) throws SQLException {
    StringBuilder key = new StringBuilder();
    for (int i = 1; i <= 8; i++) {
      key.append(Objects.toString(rows.getString(i))).append(' ');
    }
    return key.toString();
  }

  /** The same, added up from the rows, day by day. */
  static Map<String, List<BigDecimal>> rows(DataSource source) throws SQLException {
    Map<String, List<BigDecimal>> sums = new TreeMap<>();
    long day = Duration.ofDays(1).toMillis();
    long first = Math.floorDiv(RandomUses.BEGIN.toEpochMilli(), day);
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement()) {
      for (long number = first; number < first + 40; number++) {
        try (ResultSet rows =
            statement.executeQuery(
                """
                SELECT %1$d, cluster_queue, cohort_path, outcome, flavor, resource, baseline, label_value,
                  SUM(amount * CASE WHEN to_at > from_at THEN to_at - from_at ELSE 0 END),
                  SUM(amount * CASE WHEN to_at > run_from THEN to_at - run_from ELSE 0 END),
                  SUM(amount * CASE WHEN to_at > lost_from THEN to_at - lost_from ELSE 0 END),
                  SUM(amount * pace * (CASE WHEN to_at > from_at THEN to_at - from_at ELSE 0 END
                    - CASE WHEN to_at > lost_from THEN to_at - lost_from ELSE 0 END))
                FROM (SELECT a.cluster_queue, a.cohort_path, a.outcome, p.flavor, p.resource, p.baseline, l.label_value,
                    CAST(p.amount AS NUMERIC(38)) AS amount, COALESCE(p.baseline_pace, 0) AS pace,
                    GREATEST(p.from_at, %1$d) AS from_at, LEAST(p.to_at, %2$d) AS to_at,
                    GREATEST(p.from_at, %1$d, COALESCE(a.ready_at, %2$d)) AS run_from,
                    CASE WHEN a.outcome = 'Evicted'
                      THEN GREATEST(p.from_at, %1$d, COALESCE(a.checkpointed_at, 0), COALESCE(a.ready_at, %2$d))
                      ELSE %2$d END AS lost_from
                  FROM sluice_attempt a
                  JOIN sluice_attempt_amount p ON p.attempt_id = a.id
                  LEFT JOIN sluice_label l ON l.label_set = a.label_set
                  WHERE a.ended_at IS NOT NULL AND a.reach IS NOT NULL AND p.from_at < %2$d AND p.to_at > %1$d) AS parts
                GROUP BY cluster_queue, cohort_path, outcome, flavor, resource, baseline, label_value
                """
                    .formatted(number * day, (number + 1) * day))) {
          while (rows.next()) {
            List<BigDecimal> values = new ArrayList<>();
            for (int i = 9; i <= 12; i++) {
              values.add(plain(rows.getBigDecimal(i)));
            }
            sums.put(key(rows), values);
          }
        }
      }
    }
    return sums;
  }

  private static BigDecimal plain(BigDecimal value) {
    return value.signum() == 0 ? BigDecimal.ZERO : value.stripTrailingZeros();
  }
}
