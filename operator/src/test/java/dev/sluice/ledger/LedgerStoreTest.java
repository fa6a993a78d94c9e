package dev.sluice.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.ledger.AttemptObservation.Amount;
import dev.sluice.ledger.AttemptObservation.Ending;
import dev.sluice.ledger.AttemptObservation.Holder;
import dev.sluice.ledger.AttemptObservation.Outcome;
import dev.sluice.ledger.AttemptObservation.Reservation;
import dev.sluice.ledger.UsageQuery.Span;
import dev.sluice.ledger.UsageRows.UsageRow;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The sums of rows are the integral of what is used, for any span, however often it is told.
 *
 * <p>{@code -Dsluice.ledger.steps} says how many things happen in each world, {@code
 * -Dsluice.property.steps} how many in all, {@code -Dsluice.property.seed} which world is the
 * first.
 */
class LedgerStoreTest {

  private static final int STEPS = Integer.getInteger("sluice.ledger.steps", 600);

  private static final long WORLDS =
      Math.ceilDiv(
          Long.getLong(
              "sluice.property.steps", Long.getLong("sluice.property.factor", 1) * 6 * STEPS),
          STEPS);

  private static final Instant T0 = RandomUses.BEGIN;
  private static final UsageQuery ALL =
      UsageQuery.of("outcome", T0, T0.plusSeconds(3_600), Optional.empty());

  private static final Duration LIMIT = Duration.ofMinutes(1);

  @TempDir private Path directory;

  private LedgerStore open(String name) throws SQLException {
    return new LedgerDatabase(options(directory.resolve(name))).migrated();
  }

  static LedgerOptions options(Path directory) {
    return options(directory, Duration.ZERO);
  }

  static LedgerOptions options(Path directory, Duration behind) {
    return new LedgerOptions(
        directory,
        Optional.empty(),
        List.of("team"),
        Duration.ofDays(400),
        1L << 28,
        behind,
        "EUR");
  }

  @TestFactory
  Stream<DynamicTest> sumsOfRowsAreTheIntegral() {
    long first = Long.getLong("sluice.property.seed", 1);
    return LongStream.range(first, first + WORLDS)
        .boxed()
        .map(seed -> DynamicTest.dynamicTest("seed " + seed, () -> compare(seed)));
  }

  private void compare(long seed) throws SQLException {
    compare(seed, () -> open("world-" + seed));
  }

  /** Opens the same database each time. */
  interface Opening {
    LedgerStore open() throws SQLException;
  }

  static void compare(long seed, Opening opening) throws SQLException {
    Random random = new Random(seed);
    RandomUses world = new RandomUses(random, STEPS / 5, STEPS);
    List<AttemptObservation> all = world.observations();
    LedgerStore store = opening.open();
    try {
      int told = 0;
      while (told < all.size()) {
        int until = Math.min(all.size(), told + random.nextInt(1, Math.max(60, STEPS / 100)));
        store.add(all.subList(told, until));
        told = until;
        if (random.nextInt(3) == 0) {
          // a process died: what it had not forgotten is told again
          told = Math.max(0, told - random.nextInt(80));
          store.close();
          store = opening.open();
        }
      }
      assertThat(store.add(all)).as("what was told before").isEmpty();
      List<Span> spans = new ArrayList<>();
      spans.add(new Span(RandomUses.BEGIN, world.now()));
      for (int i = 0; i < 5; i++) {
        long length = Duration.between(RandomUses.BEGIN, world.now()).toMillis();
        Instant since = RandomUses.BEGIN.plusMillis(random.nextLong(length));
        spans.add(new Span(since, since.plusMillis(1 + random.nextLong(length))));
      }
      for (Span span : spans) {
        checkNodes(store, world, span.since(), span.until());
      }
      List<Price> prices = price(store, world, random);
      for (Span span : spans) {
        check(store, world, prices, span.since(), span.until());
      }
    } finally {
      store.close();
    }
  }

  /** What an amount of a flavor's resource costs for a millisecond, from then to then. */
  record Price(FlavorResource of, BigDecimal perMillisecond, Instant since, Instant until) {}

  /** Prices come, change and go five times. */
  private static List<Price> price(LedgerStore store, RandomUses world, Random random)
      throws SQLException {
    List<FlavorResource> all =
        world.uses().stream()
            .map(use -> new FlavorResource(use.amount().flavor(), use.amount().resource()))
            .distinct()
            .sorted()
            .toList();
    long length = Duration.between(RandomUses.BEGIN, world.now()).toMillis();
    List<Instant> times =
        Stream.generate(() -> RandomUses.BEGIN.plusMillis(random.nextLong(length)))
            .limit(5)
            .sorted()
            .toList();
    List<Price> prices = new ArrayList<>();
    for (int i = 0; i < times.size(); i++) {
      Map<FlavorResource, BigDecimal> count = new HashMap<>();
      Instant until = i + 1 < times.size() ? times.get(i + 1) : Instant.MAX;
      for (FlavorResource each : all) {
        BigDecimal price = BigDecimal.valueOf(random.nextInt(4));
        prices.add(new Price(each, price, times.get(i), until));
        if (price.signum() > 0 || random.nextBoolean()) {
          count.put(each, price.multiply(BigDecimal.valueOf(3_600_000)));
        }
      }
      store.setPrices(count, times.get(i));
      assertThat(store.setPrices(count, times.get(i).plusMillis(1))).as("no change").isZero();
    }
    return prices;
  }

  /** The rows are what was used, and what that cost, for each queue. */
  static void check(
      LedgerStore store, RandomUses world, List<Price> prices, Instant since, Instant until)
      throws SQLException {
    Map<String, BigDecimal> expected = new HashMap<>();
    for (RandomUses.Use use : world.uses()) {
      String of = "%s %s/%s".formatted(use.queue(), use.amount().flavor(), use.amount().resource());
      BigDecimal cost = cost(use, use.amount().flavor(), prices, since, until);
      merge(expected, of + " cost", cost);
      use.amount()
          .baseline()
          .ifPresent(
              it -> {
                BigDecimal there =
                    use.lost() ? BigDecimal.ZERO : cost(use, it.flavor(), prices, since, until);
                merge(expected, of + " saved", there.multiply(it.pace()).subtract(cost));
              });
    }
    expected(world, since, until, expected, "reserved", use -> true);
    expected(world, since, until, expected, "run", RandomUses.Use::ready);
    expected(world, since, until, expected, "waited", use -> !use.ready());
    expected(world, since, until, expected, "lost", RandomUses.Use::lost);
    Map<String, BigDecimal> sums = new HashMap<>();
    String unit = Duration.between(since, until).toHours() > 12 ? "day" : "hour";
    UsageQuery query = UsageQuery.of("queue," + unit, since, until, Optional.empty());
    List<UsageRow> rows = store.usage(query, world.now(), LIMIT).rows();
    for (UsageRow row : rows) {
      add(sums, row, "reserved", UsageRow::reserved);
      add(sums, row, "run", UsageRow::run);
      add(sums, row, "waited", UsageRow::waited);
      add(sums, row, "lost", UsageRow::lost);
      String of = "%s %s/%s".formatted(row.by().get("queue"), row.flavor(), row.resource());
      merge(sums, of + " cost", row.cost());
      merge(sums, of + " saved", row.saved());
    }
    assertThat(plain(sums)).as("from %s to %s", since, until).isEqualTo(plain(expected));
  }

  /** What a budget of any node of the tree counts is what its queues use. */
  static void checkNodes(LedgerStore store, RandomUses world, Instant since, Instant until)
      throws SQLException {
    UsageQuery query = UsageQuery.of("", since, until, Optional.empty());
    for (String node : List.of("queue-0", "queue-1", "queue-2", "rest", "team", "root", "oo")) {
      BudgetSpec.Scope scope =
          node.startsWith("queue")
              ? new BudgetSpec.Scope.OfClusterQueue(node)
              : new BudgetSpec.Scope.OfCohort(node);
      Map<String, BigDecimal> expected = new HashMap<>();
      for (RandomUses.Use use : world.uses()) {
        if (use.nodes().contains(node)) {
          merge(expected, use.amount().resource(), use.within(since, until));
        }
      }
      Map<String, BigDecimal> sums = new HashMap<>();
      UsageQuery.Scope asked = UsageQuery.Scope.of(scope, labels -> List.of());
      for (UsageRow row : store.usage(query.within(asked), world.now(), LIMIT).rows()) {
        merge(sums, row.resource(), millis(row, row.reserved()));
      }
      assertThat(sums).as("%s from %s to %s", node, since, until).isEqualTo(expected);
    }
    checkNamespaces(store, query, world.now());
  }

  /** More of them than a statement may have parameters. */
  private static void checkNamespaces(LedgerStore store, UsageQuery query, Instant now)
      throws SQLException {
    List<String> names =
        Stream.iterate(0, i -> i < 10_000, i -> i + 1).map(i -> "team-" + i).toList();
    assertThat(store.usage(query.within(UsageQuery.Scope.ofNamespaces(names)), now, LIMIT).rows())
        .isEmpty();
    for (List<String> all : List.of(with(names, "namespace"), List.of("namespace"))) {
      UsageQuery within = query.within(UsageQuery.Scope.ofNamespaces(all));
      assertThat(store.usage(within, now, LIMIT)).isEqualTo(store.usage(query, now, LIMIT));
    }
    UsageQuery none = query.within(UsageQuery.Scope.ofNamespaces(List.of()));
    assertThat(store.usage(none, now, LIMIT).rows()).isEmpty();
  }

  private static List<String> with(List<String> names, String name) {
    return Stream.concat(names.stream(), Stream.of(name)).toList();
  }

  private static Map<String, BigDecimal> plain(Map<String, BigDecimal> sums) {
    Map<String, BigDecimal> plain = new HashMap<>();
    sums.forEach(
        (key, sum) -> {
          if (sum.signum() != 0) {
            plain.put(key, sum.stripTrailingZeros());
          }
        });
    return plain;
  }

  /** What a use would cost in a flavor. */
  private static BigDecimal cost(
      RandomUses.Use use, String flavor, List<Price> prices, Instant since, Instant until) {
    BigDecimal cost = BigDecimal.ZERO;
    for (Price price : prices) {
      Instant begin = since.isAfter(price.since()) ? since : price.since();
      Instant end = until.isBefore(price.until()) ? until : price.until();
      if (price.of().equals(new FlavorResource(flavor, use.amount().resource()))
          && begin.isBefore(end)) {
        cost = cost.add(use.within(begin, end).multiply(price.perMillisecond()));
      }
    }
    return cost;
  }

  private static BigDecimal millis(UsageRow row, BigDecimal seconds) {
    return seconds.movePointRight(row.resource().equals("cpu") ? 6 : 3).setScale(0);
  }

  private static void add(
      Map<String, BigDecimal> sums,
      UsageRow row,
      String state,
      Function<UsageRow, BigDecimal> value) {
    merge(
        sums,
        row.by().get("queue") + " " + row.flavor() + " " + row.resource() + " " + state,
        millis(row, value.apply(row)));
  }

  private static void expected(
      RandomUses world,
      Instant since,
      Instant until,
      Map<String, BigDecimal> expected,
      String state,
      Predicate<RandomUses.Use> counts) {
    for (RandomUses.Use use : world.uses()) {
      if (counts.test(use)) {
        merge(
            expected,
            use.queue() + " " + use.amount().flavor() + " " + use.amount().resource() + " " + state,
            use.within(since, until));
      }
    }
  }

  private static void merge(Map<String, BigDecimal> sums, String key, BigDecimal amount) {
    if (amount.signum() != 0) {
      sums.merge(key, amount, BigDecimal::add);
    }
  }

  @Test
  void noPriceCountsTwiceWhenAClockGoesBack() throws SQLException {
    FlavorResource cpu = new FlavorResource("f", "cpu");
    try (LedgerStore store = open("clock")) {
      store.setPrices(Map.of(cpu, BigDecimal.ONE), T0.plusSeconds(100));
      store.setPrices(Map.of(cpu, BigDecimal.TWO), T0.plusSeconds(200));
      store.setPrices(Map.of(cpu, BigDecimal.TEN), T0.plusSeconds(150));
    }
    JdbcDataSource source = new JdbcDataSource();
    source.setURL("jdbc:h2:file:" + directory.resolve("clock").resolve("ledger"));
    List<String> rows = new ArrayList<>();
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement();
        ResultSet each =
            statement.executeQuery(
                "SELECT price, since_at, until_at FROM sluice_price ORDER BY since_at")) {
      while (each.next()) {
        rows.add(
            "%s %s %s"
                .formatted(
                    each.getBigDecimal(1).stripTrailingZeros().toPlainString(),
                    Instant.ofEpochMilli(each.getLong(2)),
                    each.getObject(3) == null ? "" : Instant.ofEpochMilli(each.getLong(3))));
      }
    }
    assertThat(rows)
        .containsExactly(
            "1 %s %s".formatted(T0.plusSeconds(100), T0.plusSeconds(150)),
            "10 %s ".formatted(T0.plusSeconds(150)));
  }

  @Test
  void theViewHasARowForEachAttemptThatEnded() throws SQLException {
    RandomUses world = new RandomUses(new Random(3), 20, 200);
    try (LedgerStore store = open("view")) {
      List<Attempt> ended = store.add(world.observations());
      assertThat(ended).hasSizeGreaterThan(10);
      long rows =
          ended.stream()
              .mapToLong(
                  attempt ->
                      attempt.parts().stream()
                          .map(part -> part.amount().flavor() + part.amount().resource())
                          .distinct()
                          .count())
              .sum();
      assertThat(count(directory.resolve("view"), "sluice_ledger")).isEqualTo(rows);
    }
  }

  private static long count(Path database, String table) throws SQLException {
    JdbcDataSource source = new JdbcDataSource();
    source.setURL("jdbc:h2:file:" + database.resolve("ledger"));
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement();
        ResultSet count = statement.executeQuery("SELECT COUNT(*) FROM " + table)) {
      count.next();
      return count.getLong(1);
    }
  }

  /** Labels may name people. */
  @Test
  void labelsAreDeletedWithTheLastAttemptThatHasThem() throws SQLException {
    RandomUses world = new RandomUses(new Random(5), 1, 200);
    Path labels = directory.resolve("labels");
    try (LedgerStore store = open("labels")) {
      store.add(world.observations());
      assertThat(store.open()).isEmpty();
      assertThat(count(labels, "sluice_label")).isEqualTo(1);
      store.delete("namespace", world.now());
      for (String table :
          List.of(
              "sluice_label", "sluice_label_set", "sluice_usage_group", "sluice_attempt_amount")) {
        assertThat(count(labels, table)).as(table).isZero();
      }
    }
  }

  @Test
  void oldAttemptsAndThoseOfANamespaceAreDeleted() throws SQLException {
    RandomUses world = new RandomUses(new Random(5), 40, 200);
    try (LedgerStore store = open("deleted")) {
      int ended = store.add(world.observations()).size();
      int open = store.open().size();
      assertThat(open).isPositive();
      Instant middle =
          RandomUses.BEGIN.plus(Duration.between(RandomUses.BEGIN, world.now()).dividedBy(2));
      int old = store.deleteEndedBefore(middle);
      assertThat(old).isBetween(1, ended - 1);
      assertThat(store.delete("another", world.now())).isZero();
      assertThat(store.delete("namespace", world.now())).isEqualTo(ended - old);
      assertThat(store.open()).hasSize(open);
    }
  }

  /** The leader after a crash in their order, others as they come to it. */
  @Test
  void whatWasDeletedStaysDeletedWhoeverTellsItAgain() throws SQLException {
    Random random = new Random(5);
    RandomUses world = new RandomUses(random, 40, 200, true);
    List<AttemptObservation> all = new ArrayList<>(world.observations());
    try (LedgerStore store = open("stays")) {
      Instant middle = all.get(all.size() / 2).observedAt();
      store.add(all.subList(0, all.size() / 2));
      assertThat(store.delete("namespace", middle)).isPositive();
      store.add(all);
      long later = count(directory.resolve("stays"), "sluice_ledger");
      assertThat(later).as("what ended since").isPositive();
      assertThat(store.delete("namespace", world.now())).isPositive();
      List<LedgerStore.OpenAttempt> open = store.open();
      assertThat(open).isNotEmpty();
      for (AttemptObservation each : all) {
        store.add(List.of(each));
      }
      checkOpenOnly(store, open);
      Collections.shuffle(all, random);
      for (AttemptObservation each : all) {
        store.add(List.of(each), false);
        checkOpenOnly(store, open);
      }
      store.deleteEndedBefore(world.now().plusSeconds(1));
      assertThat(count(directory.resolve("stays"), "sluice_deletion")).isZero();
    }
  }

  /** Labels may name people. */
  @Test
  void anEndThatIsToldAfterTheDeletionLeavesNothing() throws SQLException {
    Path database = directory.resolve("late-end");
    try (LedgerStore store = open("late-end")) {
      store.add(List.of(labelled("u1", Optional.empty())));
      assertThat(store.delete("ns", T0.plusSeconds(10))).as("it goes on").isZero();
      Ending ending = new Ending(T0.plusSeconds(9), Outcome.FAILED, "");
      AttemptObservation begun = labelled("u1", Optional.empty());
      AttemptObservation ended =
          new AttemptObservation(
              "u1", 2, T0.plusSeconds(11), begun.reservation(), Optional.of(ending));
      assertThat(store.add(List.of(ended))).as("it counted").hasSize(1);
      for (String table : List.of("sluice_attempt", "sluice_attempt_amount", "sluice_label_set")) {
        assertThat(count(database, table)).as(table).isZero();
      }
    }
  }

  private void checkOpenOnly(LedgerStore store, List<LedgerStore.OpenAttempt> open)
      throws SQLException {
    assertThat(store.open()).isEqualTo(open);
    for (String table : List.of("sluice_ledger", "sluice_usage_day")) {
      assertThat(count(directory.resolve("stays"), table)).as(table).isZero();
    }
  }

  /** A price that nothing counts with any more has no use; one attempt goes on since the first. */
  @Test
  void pricesAreDeletedWithTheLastAttemptThatMayHaveThem() throws SQLException {
    FlavorResource gpu = new FlavorResource("flavor", "gpu");
    try (LedgerStore store = open("prices")) {
      store.setPrices(Map.of(gpu, BigDecimal.ONE), T0.minusSeconds(100));
      store.setPrices(Map.of(gpu, BigDecimal.TWO), T0);
      store.setPrices(Map.of(gpu, BigDecimal.valueOf(3)), T0.plusSeconds(30));
      store.add(List.of(changed(1, 0, 1)));
      store.deleteEndedBefore(T0.plusSeconds(60));
      assertThat(count(directory.resolve("prices"), "sluice_price")).isEqualTo(2);
      assertThat(store.usage(ALL, T0.plusSeconds(60), LIMIT).rows().getFirst().cost())
          .as("what it cost before and after")
          .isEqualByComparingTo(
              BigDecimal.valueOf(30 * 2 + 30 * 3)
                  .divide(BigDecimal.valueOf(3_600), MathContext.DECIMAL128));
      store.add(
          List.of(
              observation(
                  2, T0, Optional.of(new Ending(T0.plusSeconds(70), Outcome.DELETED, "")), 0)));
      store.deleteEndedBefore(T0.plusSeconds(70));
      assertThat(count(directory.resolve("prices"), "sluice_price"))
          .as("the attempt is kept")
          .isEqualTo(2);
      store.deleteEndedBefore(T0.plusSeconds(80));
      assertThat(store.prices()).isEqualTo(Map.of(gpu, BigDecimal.valueOf(3)));
      assertThat(count(directory.resolve("prices"), "sluice_price")).isEqualTo(1);
    }
  }

  /** Who deletes the last attempt with some labels doesn't know the next one yet. */
  @Test
  void anAttemptKeepsTheLabelsThatWereDeletedWhileItWasWritten() throws SQLException {
    LedgerDatabase database = new LedgerDatabase(options(directory.resolve("labelled")));
    List<AttemptObservation> next = List.of(labelled("u2", Optional.empty()));
    AtomicBoolean written = new AtomicBoolean();
    try (LedgerStore leader = database.migrated();
        LedgerStore deleting =
            new LedgerStore(
                beforeLabelsAreGone(
                    database.dataSource().getConnection(),
                    () -> written.set(isAdded(leader, next))))) {
      leader.add(
          List.of(labelled("u1", Optional.of(new Ending(T0.plusSeconds(9), Outcome.FAILED, "")))));
      assertThat(deleting.deleteEndedBefore(T0.plusSeconds(10))).isEqualTo(1);
      if (!written.get()) {
        leader.add(next);
      }
      UsageQuery query = UsageQuery.of("label:team", T0, T0.plusSeconds(3_600), Optional.empty());
      assertThat(leader.usage(query, T0.plusSeconds(100), LIMIT).rows())
          .extracting(row -> row.by().get("label:team"))
          .containsExactly("red");
    }
  }

  /** Whether somebody else's locks let a transaction be written; it is told again if not. */
  private static boolean isAdded(LedgerStore store, List<AttemptObservation> observations) {
    try {
      store.add(observations);
      return true;
    } catch (SQLException locked) {
      return false;
    }
  }

  static AttemptObservation labelled(String uid, Optional<Ending> ending) {
    return new AttemptObservation(
        uid,
        1,
        T0,
        Optional.of(
            new Reservation(
                new Holder("ns", uid, "local", "queue", "", "Job", uid, Map.of("team", "red")),
                T0,
                Optional.empty(),
                false,
                Optional.empty(),
                List.of(new Amount("flavor", "gpu", 1)))),
        ending);
  }

  /** Does something before the transaction ends that deletes labels. */
  private static Connection beforeLabelsAreGone(Connection connection, Change change) {
    AtomicBoolean deleted = new AtomicBoolean();
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("prepareStatement")
                  && arguments[0].toString().startsWith("DELETE FROM sluice_label_set")) {
                deleted.set(true);
              } else if (method.getName().equals("commit") && deleted.compareAndSet(true, false)) {
                change.make();
              }
              return method.invoke(connection, arguments);
            });
  }

  /** Runs something once, before the first row of a transaction is written. */
  private static Connection before(Connection connection, Change change) {
    AtomicBoolean done = new AtomicBoolean();
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("prepareStatement")
                  && arguments[0].toString().startsWith("INSERT")
                  && done.compareAndSet(false, true)) {
                change.make();
              }
              return method.invoke(connection, arguments);
            });
  }

  private interface Change {
    void make() throws SQLException;
  }

  /** The last leader still writes what it read before the new one wrote. */
  static void interleave(Opening opening, Connection late) throws SQLException {
    List<AttemptObservation> versions =
        List.of(
            observation(1, T0, Optional.empty(), 1),
            observation(2, T0, Optional.empty(), 2),
            observation(3, T0, Optional.of(new Ending(T0.plusSeconds(60), Outcome.EVICTED, "")), 2),
            observation(4, T0.plusSeconds(90), Optional.empty(), 2));
    try (LedgerStore leader = opening.open();
        LedgerStore last =
            new LedgerStore(before(late, () -> leader.add(versions.subList(1, 4))))) {
      leader.add(versions.subList(0, 1));
      assertThatThrownBy(() -> last.add(versions.subList(0, 3)))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("meanwhile");
      assertThat(last.add(versions)).as("told again").isEmpty();
      assertThat(leader.usage(ALL, T0.plusSeconds(100), LIMIT).rows())
          .extracting(row -> row.by().get("outcome") + " " + row.reserved())
          .containsExactly(" 20", "Evicted 120");
    }
  }

  private static AttemptObservation observation(
      long version, Instant reservedAt, Optional<Ending> ending, long gpus) {
    return new AttemptObservation(
        "u1",
        version,
        reservedAt,
        ending.isPresent()
            ? Optional.empty()
            : Optional.of(
                new Reservation(
                    new Holder("ns", "job", "local", "queue", "root", "Job", "job", Map.of()),
                    reservedAt,
                    Optional.empty(),
                    false,
                    Optional.empty(),
                    List.of(new Amount("flavor", "gpu", gpus)))),
        ending);
  }

  @Test
  void whoReadBeforeAnotherWroteDoesNotOverwriteIt() throws SQLException {
    LedgerDatabase database = new LedgerDatabase(options(directory.resolve("two")));
    try (LedgerStore first = database.migrated()) {
      assertThat(first.open()).isEmpty();
      interleave(database::connect, database.dataSource().getConnection());
    }
  }

  private static List<AttemptObservation> many(int count, String cohortPath) {
    return IntStream.range(0, count)
        .mapToObj(
            i ->
                new AttemptObservation(
                    "u" + i,
                    1,
                    T0,
                    Optional.of(
                        new Reservation(
                            new Holder(
                                "ns", "job-" + i, "local", "queue", cohortPath, "", "", Map.of()),
                            T0,
                            Optional.empty(),
                            false,
                            Optional.empty(),
                            List.of(new Amount("flavor", "gpu", 1)))),
                    Optional.empty()))
        .toList();
  }

  @Test
  void anAnswerHasABoundedNumberOfRowsAndBytes() throws SQLException {
    UsageQuery query =
        UsageQuery.of("workload,cohort,hour", T0, T0.plusSeconds(36_000), Optional.empty());
    Instant now = T0.plusSeconds(36_000);
    try (LedgerStore store = open("rows")) {
      store.add(many(1_500, "root"));
      UsageRows rows = store.usage(query, now, LIMIT);
      assertThat(rows.rows()).hasSize(10_000);
      assertThat(rows.incomplete()).isTrue();
    }
    try (LedgerStore store = open("bytes")) {
      store.add(many(300, "x".repeat(4_096)));
      UsageRows rows = store.usage(query, now, LIMIT);
      assertThat(rows.rows()).hasSizeBetween(900, 1_024);
      assertThat(rows.incomplete()).isTrue();
    }
  }

  @Test
  void allSpansTogetherHaveATimeLimit() throws SQLException {
    try (LedgerStore store = open("late")) {
      assertThatThrownBy(() -> store.usage(ALL, T0, Duration.ZERO))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("ask for fewer groups or less time");
    }
  }

  @Test
  void noTimeCountsTwiceWhenAClockGoesBack() throws SQLException {
    Instant end = T0.plusSeconds(100);
    try (LedgerStore store = open("back")) {
      store.add(
          List.of(
              changed(1, 0, 1),
              changed(2, 50, 10),
              changed(3, 20, 100), // observed at 20 s, after what was observed at 50 s
              observation(4, T0, Optional.of(new Ending(end, Outcome.DELETED, "")), 0)));
      assertThat(store.usage(ALL, end, LIMIT).rows())
          .singleElement()
          .extracting(UsageRow::reserved)
          .isEqualTo(BigDecimal.valueOf(50 + 50 * 100));
    }
  }

  private static AttemptObservation changed(long version, int seconds, long gpus) {
    AttemptObservation told = observation(version, T0, Optional.empty(), gpus);
    return new AttemptObservation(
        told.workload(), version, T0.plusSeconds(seconds), told.reservation(), told.ending());
  }
}
