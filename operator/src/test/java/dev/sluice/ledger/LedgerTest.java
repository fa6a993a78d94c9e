package dev.sluice.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.ledger.UsageRows.UsageRow;
import dev.sluice.metrics.LedgerMetrics;
import dev.sluice.testing.LogLines;
import dev.sluice.workload.feed.TranslationOptions;
import dev.sluice.workload.feed.WorkloadTranslator;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.ResourceContext;
import dev.sluice.workload.record.WorkloadCache;
import dev.sluice.workload.record.WorkloadParser;
import dev.sluice.workload.status.Variants;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** Versions of Workloads become rows, whoever leads and whether or not the database is there. */
class LedgerTest {

  private static final Instant T0 = Instant.parse("2026-03-01T10:00:00Z");
  private static final String PARENT = "\"kueue.x-k8s.io/concurrent-admission-parent\": \"true\", ";
  private static final Duration LIMIT = Duration.ofMinutes(1);

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  private Path directory;

  private final WorkloadParser parser = new WorkloadParser(Set.of("team"), false);
  private final WorkloadCache cache = new WorkloadCache();
  private final AtomicBoolean leading = new AtomicBoolean(true);
  private PrometheusRegistry registry = new PrometheusRegistry();
  private LedgerMetrics metrics = new LedgerMetrics(registry);
  private volatile Instant now = T0;
  private volatile Optional<Map<FlavorResource, BigDecimal>> prices = Optional.empty();

  private Ledger started(String process, LedgerOptions options) throws IOException {
    return started(process, options, leading::get);
  }

  private Ledger started(String process, LedgerOptions options, BooleanSupplier leads)
      throws IOException {
    Ledger ledger =
        new Ledger(
            options,
            new Ledger.Source(process, cache, leads, () -> prices, queue -> true),
            new AttemptReader(
                new WorkloadTranslator(ResourceContext.NONE, TranslationOptions.DEFAULT)::charged,
                Variants::isParent,
                queue -> "root/team",
                Set.of("team"),
                (queue, used) -> Optional.empty()),
            () -> now,
            metrics);
    ledger.start();
    ledger.synced();
    return ledger;
  }

  private LedgerOptions embedded() {
    return LedgerStoreTest.options(directory.resolve("ledger"));
  }

  private LedgerOptions options(PostgresServer server) throws IOException {
    Path password = Files.writeString(directory.resolve("given"), "secret\n");
    return new LedgerOptions(
        directory.resolve("ledger"),
        Optional.of(new LedgerOptions.Server(server.url(), "ledger", Optional.of(password))),
        List.of("team"),
        Duration.ofDays(10_000),
        1L << 20,
        Duration.ZERO,
        "");
  }

  /** A version of a Workload of two pods with a core each; conditions are {@code Type=at}. */
  private CachedWorkload workload(int version, String... conditions) throws IOException {
    return workload("job", "u1", version, conditions);
  }

  private CachedWorkload other(int version, String... conditions) throws IOException {
    return workload("other", "u2", version, conditions);
  }

  private CachedWorkload workload(String name, String uid, int version, String... conditions)
      throws IOException {
    return workload(name, uid, "", version, conditions);
  }

  private CachedWorkload workload(
      String name, String uid, String label, int version, String... conditions) throws IOException {
    StringBuilder list = new StringBuilder();
    boolean admitted = false;
    for (String condition : conditions) {
      String[] parts = condition.split("[=@]");
      String status = parts[1];
      admitted |= parts[0].equals("QuotaReserved") && status.equals("True");
      list.append(list.isEmpty() ? "" : ",")
          .append(
              """
              {"type": "%s", "status": "%s", "reason": "%s", "message": "",
               "lastTransitionTime": "%s"}\
              """
                  .formatted(
                      parts[0],
                      status,
                      parts.length > 3 ? parts[3] : parts[0],
                      T0.plusSeconds(Long.parseLong(parts[2]))));
    }
    String admission =
        admitted
            ? """
            , "admission": {"clusterQueue": "queue", "podSetAssignments": [{"name": "main",
              "count": 2, "flavors": {"cpu": "spot"}, "resourceUsage": {"cpu": "2"}}]}\
            """
            : "";
    return parser.parse(
        """
        {"metadata": {"name": "%s", "namespace": "ns", "uid": "%s", "resourceVersion": "%d",
           "creationTimestamp": "%s", "labels": {%s"team": "red", "other": "x"}},
         "spec": {"queueName": "local", "podSets": [{"name": "main", "count": 2, "template":
           {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}}]},
         "status": {"conditions": [%s]%s}}
        """
            .formatted(name, uid, version, T0, label, list, admission)
            .getBytes(StandardCharsets.UTF_8));
  }

  private static List<UsageRow> usage(Ledger ledger) {
    try {
      return ledger
          .usage(
              UsageQuery.of(
                  "outcome,label:team", T0, T0.plus(Duration.ofDays(1)), Optional.empty()))
          .rows();
    } catch (SQLException notYet) {
      return List.of();
    }
  }

  private static String text(Ledger ledger) {
    StringBuilder text = new StringBuilder();
    for (UsageRow row : usage(ledger)) {
      text.append(
          "%s %s %s %s reserved=%s run=%s lost=%s;"
              .formatted(
                  row.by().get("outcome"),
                  row.by().get("label:team"),
                  row.flavor(),
                  row.resource(),
                  row.reserved().toPlainString(),
                  row.run().toPlainString(),
                  row.lost().toPlainString()));
    }
    return text.toString();
  }

  private static void awaitText(Ledger ledger, String expected) {
    await(expected).atMost(LIMIT).untilAsserted(() -> assertThat(text(ledger)).isEqualTo(expected));
  }

  @Test
  void anAttemptThatIsEvictedAndOneThatSucceeds() throws Exception {
    try (Ledger ledger = started("a", embedded())) {
      CachedWorkload pending = workload(1);
      CachedWorkload reserved = workload(2, "QuotaReserved=True@10");
      CachedWorkload admitted = workload(3, "QuotaReserved=True@10", "Admitted=True@20");
      CachedWorkload evicted =
          workload(4, "QuotaReserved=True@10", "Admitted=True@20", "Evicted=True@50@Preempted");
      CachedWorkload released =
          workload(
              5,
              "QuotaReserved=False@60@Pending",
              "Admitted=False@60",
              "Evicted=True@50@Preempted");
      CachedWorkload again = workload(6, "QuotaReserved=True@100", "Admitted=True@100");
      CachedWorkload finished =
          workload(7, "QuotaReserved=True@100", "Admitted=True@100", "Finished=True@200@Succeeded");
      CachedWorkload[] versions = {pending, reserved, admitted, evicted, released, again, finished};
      for (int i = 1; i < versions.length; i++) {
        ledger.changed(versions[i - 1], versions[i]);
      }
      ledger.changed(finished, null);
      now = T0.plusSeconds(1_000);
      awaitText(
          ledger,
          "Evicted red spot cpu reserved=100 run=80 lost=80;"
              + "Succeeded red spot cpu reserved=200 run=200 lost=0;");
    }
    assertThat(seconds("reserved")).isEqualTo(300);
    assertThat(seconds("waited")).isEqualTo(20);
    assertThat(seconds("lost")).isEqualTo(80);
  }

  /** A variant has the quota of its parent, which has its admission, too. */
  @Test
  void aRunOfAParentAndItsVariantIsChargedOnce() throws Exception {
    String[] ended = {"QuotaReserved=True@10", "Admitted=True@20", "Finished=True@50@Succeeded"};
    try (Ledger ledger = started("a", embedded())) {
      ledger.changed(null, workload("job", "u1", PARENT, 4, ended));
      ledger.changed(null, workload("job-variant-spot", "u2", "", 5, ended));
      now = T0.plusSeconds(1_000);
      awaitText(ledger, "Succeeded red spot cpu reserved=80 run=60 lost=0;");
    }
  }

  /** A price of 3.6 an hour counts for two cores from the tenth second to the hundred and tenth. */
  @Test
  void aPriceCountsWhileTheFlavorHasIt() throws Exception {
    try (Ledger ledger = started("a", embedded())) {
      ledger.changed(workload(1), workload(2, "QuotaReserved=True@0"));
      now = T0.plusSeconds(10);
      price(ledger, Map.of(new FlavorResource("spot", "cpu"), new BigDecimal("0.0036")));
      now = T0.plusSeconds(110);
      price(ledger, Map.of());
      now = T0.plusSeconds(500);
      UsageQuery query = UsageQuery.of("", T0, T0.plusSeconds(1_000), Optional.empty());
      await("the row").atMost(LIMIT).until(() -> !ledger.usage(query).rows().isEmpty());
      assertThat(ledger.usage(query).rows().getFirst().cost()).isEqualByComparingTo("0.2");
      assertThat(ledger.usage(query).currency()).isEqualTo("EUR");
    }
  }

  /** Time axis, section 7: a change counts from then on. */
  @Test
  void aPriceThatChangesWhileTheServerIsAwayCountsFromThen() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory, "secret");
        Ledger ledger = started("a", options(server))) {
      ledger.changed(workload(1), workload(2, "QuotaReserved=True@0"));
      now = T0.plusSeconds(1);
      awaitText(ledger, " red spot cpu reserved=2 run=0 lost=0;");
      server.end();
      now = T0.plusSeconds(10);
      prices = Optional.of(Map.of(new FlavorResource("spot", "cpu"), new BigDecimal("0.0036")));
      ledger.pricesChanged();
      now = T0.plusSeconds(20);
      ledger.pricesChanged(); // something else of a flavor
      now = T0.plusSeconds(110);
      prices = Optional.of(Map.of());
      ledger.pricesChanged();
      await("the outage to be counted").atMost(LIMIT).until(() -> failedWrites() > 0);
      now = T0.plusSeconds(500);
      server.begin();
      await("the price")
          .atMost(LIMIT)
          .untilAsserted(() -> assertThat(cost(ledger)).isEqualByComparingTo("0.2"));
    }
  }

  /** The earliest ones count from when they did, and what counts in the end does in any case. */
  @Test
  void ofMorePricesThanAnOutageMayHaveTheLastOneCounts() throws Exception {
    FlavorResource cpu = new FlavorResource("spot", "cpu");
    DataSource source = new LedgerDatabase(embedded()).dataSource();
    execute(source, "CREATE TABLE sluice_attempt_amount (amount INTEGER)");
    try (Ledger ledger = started("a", embedded())) {
      for (int i = 1; i <= 1_000; i++) {
        now = T0.plusSeconds(i);
        prices = Optional.of(Map.of(cpu, BigDecimal.valueOf(i)));
        ledger.pricesChanged();
      }
      execute(source, "DROP TABLE sluice_attempt_amount");
      await("the last price")
          .atMost(LIMIT)
          .ignoreExceptionsInstanceOf(SQLException.class)
          .untilAsserted(
              () ->
                  assertThat(prices(source))
                      .hasSizeBetween(2, 200)
                      .startsWith("1 1", "2 2")
                      .endsWith("1000 1000"));
    }
  }

  /** The prices of rows, and how many seconds after the begin each counts from. */
  private static List<String> prices(DataSource source) throws SQLException {
    List<String> prices = new ArrayList<>();
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery("SELECT price, since_at FROM sluice_price ORDER BY since_at")) {
      while (rows.next()) {
        prices.add(
            "%d %d"
                .formatted(
                    rows.getBigDecimal(1).intValue(),
                    Duration.between(T0, Instant.ofEpochMilli(rows.getLong(2))).toSeconds()));
      }
    }
    return prices;
  }

  private static BigDecimal cost(Ledger ledger) throws SQLException {
    return ledger
        .usage(UsageQuery.of("", T0, T0.plusSeconds(1_000), Optional.empty()))
        .rows()
        .getFirst()
        .cost();
  }

  private void price(Ledger ledger, Map<FlavorResource, BigDecimal> all) throws Exception {
    prices = Optional.of(all);
    ledger.pricesChanged();
    LedgerDatabase database = new LedgerDatabase(embedded());
    await("the price")
        .atMost(LIMIT)
        .ignoreExceptionsInstanceOf(SQLException.class) // until the ledger has made the schema
        .until(
            () -> {
              try (LedgerStore store = database.connect()) {
                return store.prices().equals(all);
              }
            });
  }

  private double failedWrites() {
    return registry.scrape(name -> name.equals("sluice_ledger_failed_writes")).stream()
        .flatMap(snapshot -> ((CounterSnapshot) snapshot).getDataPoints().stream())
        .mapToDouble(CounterSnapshot.CounterDataPointSnapshot::getValue)
        .sum();
  }

  private double seconds(String state) {
    return registry.scrape(name -> name.equals("sluice_resource_seconds")).stream()
        .flatMap(snapshot -> ((CounterSnapshot) snapshot).getDataPoints().stream())
        .filter(point -> state.equals(point.getLabels().get("state")))
        .mapToDouble(CounterSnapshot.CounterDataPointSnapshot::getValue)
        .sum();
  }

  @Test
  void whatEndedWhileNobodyLookedEndsAtTheNextStart() throws Exception {
    CachedWorkload running = workload(3, "QuotaReserved=True@10", "Admitted=True@20");
    try (Ledger ledger = started("a", embedded())) {
      ledger.changed(null, running);
      now = T0.plusSeconds(30);
      awaitText(ledger, " red spot cpu reserved=40 run=20 lost=0;");
    }
    now = T0.plusSeconds(90);
    cache.reached(9);
    try (Ledger ledger = started("b", embedded())) {
      awaitText(ledger, "Deleted red spot cpu reserved=160 run=140 lost=0;");
    }
  }

  /** A killed process had written of a Workload in the file only; then the Workload was deleted. */
  @Test
  void whatWaitedInTheFileEndsTooIfItsWorkloadIsGone() throws Exception {
    CachedWorkload reserved = workload(3, "QuotaReserved=True@10");
    try (Ledger ledger = started("a", embedded())) {
      ledger.changed(null, reserved);
      now = T0.plusSeconds(30);
      awaitText(ledger, " red spot cpu reserved=40 run=0 lost=0;");
    }
    leading.set(false);
    try (Ledger ledger = started("a", embedded())) {
      ledger.changed(reserved, workload(9, "QuotaReserved=True@10", "Admitted=True@20"));
    }
    leading.set(true);
    cache.reached(20);
    now = T0.plusSeconds(90);
    try (Ledger ledger = started("b", embedded())) {
      awaitText(ledger, "Deleted red spot cpu reserved=160 run=140 lost=0;");
    }
  }

  @Test
  void aWorkloadThatTheWatchHasNotSeenYetIsNotGone() throws Exception {
    CachedWorkload running = workload(7, "QuotaReserved=True@10", "Admitted=True@20");
    try (Ledger ledger = started("a", embedded())) {
      ledger.changed(null, running);
      now = T0.plusSeconds(30);
      awaitText(ledger, " red spot cpu reserved=40 run=20 lost=0;");
    }
    cache.reached(6);
    try (Ledger ledger = started("b", embedded())) {
      // a finished Workload is made up for by the comparison that leaves the other one alone
      cache.seen(other(5, "QuotaReserved=True@10", "Admitted=True@10", "Finished=True@20@Failed"));
      awaitText(
          ledger,
          " red spot cpu reserved=40 run=20 lost=0;"
              + "Failed red spot cpu reserved=20 run=20 lost=0;");
      now = T0.plusSeconds(90);
      cache.seen(running);
      cache.reached(8);
      cache.deleted(workload(9, "QuotaReserved=True@10", "Admitted=True@20"));
      cache.reached(9);
      awaitText(
          ledger,
          "Deleted red spot cpu reserved=160 run=140 lost=0;"
              + "Failed red spot cpu reserved=20 run=20 lost=0;");
    }
  }

  @Test
  void anAttemptThatNobodySawAfterAnEvictionIsMadeUpFor() throws Exception {
    CachedWorkload running = workload(3, "QuotaReserved=True@10", "Admitted=True@20");
    now = T0.plusSeconds(900);
    try (Ledger ledger = started("a", embedded())) {
      ledger.changed(null, running);
      ledger.changed(
          running, workload(5, "QuotaReserved=False@40@Pending", "Evicted=True@40@Preempted"));
      awaitText(ledger, "Evicted red spot cpu reserved=60 run=40 lost=40;");
    }
    cache.seen(
        workload(9, "QuotaReserved=True@50", "Admitted=True@50", "Finished=True@60@Succeeded"));
    cache.reached(9);
    try (Ledger ledger = started("b", embedded())) {
      awaitText(
          ledger,
          "Evicted red spot cpu reserved=60 run=40 lost=40;"
              + "Succeeded red spot cpu reserved=20 run=20 lost=0;");
    }
  }

  @Test
  void whatIsTooOldToBeKeptIsNotMadeUpFor() throws Exception {
    now = T0.plus(Duration.ofDays(401));
    cache.seen(
        workload(9, "QuotaReserved=True@50", "Admitted=True@50", "Finished=True@60@Succeeded"));
    cache.seen(other(10, "QuotaReserved=True@50", "Admitted=True@50"));
    cache.reached(10);
    try (Ledger ledger = started("a", embedded())) {
      await("the comparison")
          .atMost(LIMIT)
          .untilAsserted(() -> assertThat(usage(ledger)).hasSize(1));
    }
    // rows would be written and deleted at each start
    assertThat(seconds("reserved")).isZero();
  }

  @Test
  void whoFollowsTellsWhatTheLastLeaderDidNot() throws Exception {
    leading.set(false);
    CachedWorkload running = workload(3, "QuotaReserved=True@10", "Admitted=True@20");
    try (Ledger follower = started("b", embedded())) {
      follower.changed(null, running);
      follower.changed(
          running, workload(5, "QuotaReserved=False@40@Pending", "Evicted=True@40@Preempted"));
      assertThat(directory.resolve("ledger/ledger.mv.db")).as("rows of a follower").doesNotExist();
      leading.set(true);
      now = T0.plusSeconds(90);
      awaitText(follower, "Evicted red spot cpu reserved=60 run=40 lost=40;");
    }
  }

  @Test
  void aServerThatIsAwayLosesNothing() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory, "secret")) {
      LedgerOptions options = options(server);
      CachedWorkload running = workload(3, "QuotaReserved=True@10", "Admitted=True@20");
      CachedWorkload released =
          workload(5, "QuotaReserved=False@40@Pending", "Evicted=True@40@Preempted");
      now = T0.plusSeconds(90);
      try (Ledger ledger = started("a", options)) {
        ledger.changed(null, running);
        awaitText(ledger, " red spot cpu reserved=160 run=140 lost=0;");
        server.end();
        ledger.changed(running, released);
        CachedWorkload again = workload(6, "QuotaReserved=True@50", "Admitted=True@50");
        ledger.changed(released, again);
        ledger.changed(again, workload(7, "QuotaReserved=True@50", "Finished=True@60@Failed"));
        await("the outage to be counted").atMost(LIMIT).until(() -> failedWrites() > 0);
        assertThat(directory.resolve("ledger/ledger-a.buffer")).isNotEmptyFile();
      }
      // the process has ended, too; the next one finds what waits
      server.begin();
      try (Ledger ledger = started("b", options)) {
        awaitText(
            ledger,
            "Evicted red spot cpu reserved=60 run=40 lost=40;"
                + "Failed red spot cpu reserved=20 run=20 lost=0;");
      }
    }
  }

  /** The leader was not there when it happened; who was doesn't lead any more. */
  @Test
  void whoFollowsWritesWhatIsOldIntoTheDatabaseOfAll() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory, "secret")) {
      LedgerOptions options = options(server);
      CachedWorkload running = workload(3, "QuotaReserved=True@10", "Admitted=True@20");
      CachedWorkload again = workload(9, "QuotaReserved=True@50", "Admitted=True@50");
      now = T0.plusSeconds(90);
      try (Ledger leader = started("a", options);
          Ledger follower = started("b", options, () -> false)) {
        leader.changed(null, running);
        awaitText(leader, " red spot cpu reserved=160 run=140 lost=0;");
        follower.changed(
            running, workload(5, "QuotaReserved=False@40@Pending", "Evicted=True@40@Preempted"));
        leader.changed(null, again);
        String assumed = " red spot cpu reserved=80 run=80 lost=0;";
        awaitText(leader, assumed + "Evicted red spot cpu reserved=80 run=60 lost=60;");
        now = T0.plusSeconds(1_000);
        awaitText(
            leader,
            " red spot cpu reserved=1900 run=1900 lost=0;"
                + "Evicted red spot cpu reserved=60 run=40 lost=40;");
      }
    }
  }

  /** Who follows remembers for ten minutes what the leader has written and deleted. */
  @Test
  void whatWasDeletedIsNotWrittenAgainByWhoFollows() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory, "secret")) {
      LedgerOptions options = options(server);
      CachedWorkload running = workload(3, "QuotaReserved=True@10", "Admitted=True@20");
      CachedWorkload released =
          workload(5, "QuotaReserved=False@40@Pending", "Evicted=True@40@Preempted");
      now = T0.plusSeconds(90);
      try (Ledger leader = started("a", options);
          Ledger follower = started("b", options, () -> false)) {
        for (Ledger ledger : List.of(leader, follower)) {
          ledger.changed(null, running);
          ledger.changed(running, released);
        }
        awaitText(leader, "Evicted red spot cpu reserved=60 run=40 lost=40;");
        assertThat(leader.delete("ns")).isEqualTo(1);
        CachedWorkload next = other(6, "QuotaReserved=True@10", "Admitted=True@20");
        follower.changed(
            next,
            other(7, "QuotaReserved=True@10", "Admitted=True@20", "Finished=True@95@Succeeded"));
        now = T0.plusSeconds(1_000);
        awaitText(leader, "Succeeded red spot cpu reserved=170 run=150 lost=0;");
      }
    }
  }

  /** Else nothing of the namespace would be kept for years. */
  @Test
  void aClockThatWasSetToALaterTimeDeletesNothingThatEndsLater() throws Exception {
    try (Ledger ledger = started("a", embedded())) {
      CachedWorkload reserved = workload(2, "QuotaReserved=True@10");
      ledger.changed(null, reserved);
      now = Instant.now().plus(Duration.ofDays(3_650));
      await("the schema").atMost(LIMIT).until(() -> !usage(ledger).isEmpty());
      assertThat(ledger.delete("ns")).isZero();
      long later = Duration.between(T0, Instant.now().plus(Duration.ofDays(1))).toSeconds();
      ledger.changed(
          reserved,
          workload(3, "QuotaReserved=True@10", "Finished=True@%d@Failed".formatted(later)));
      await("the row").atMost(LIMIT).until(() -> text(ledger).startsWith("Failed"));
    }
  }

  /** A new leader makes up for what is finished, but not for what was deleted of it. */
  @Test
  void aFinishedWorkloadWhoseAttemptWasDeletedIsNotMadeUpFor() throws Exception {
    CachedWorkload finished = workload(3, "QuotaReserved=True@10", "Finished=True@20@Failed");
    now = T0.plusSeconds(30);
    try (Ledger ledger = started("a", embedded())) {
      ledger.changed(null, finished);
      awaitText(ledger, "Failed red spot cpu reserved=20 run=0 lost=0;");
      assertThat(ledger.delete("ns")).isEqualTo(1);
    }
    now = T0.plusSeconds(90);
    cache.seen(finished);
    cache.seen(other(5, "QuotaReserved=True@10", "Finished=True@35@Failed"));
    cache.reached(5);
    try (Ledger ledger = started("b", embedded())) {
      awaitText(ledger, "Failed red spot cpu reserved=50 run=0 lost=0;");
    }
  }

  @Test
  void anErrorDoesNotEndTheWriting() throws Exception {
    AtomicBoolean broken = new AtomicBoolean(true);
    BooleanSupplier leads =
        () -> {
          if (broken.compareAndSet(true, false)) {
            throw new AssertionError("once");
          }
          return true;
        };
    try (Ledger ledger = started("a", embedded(), leads)) {
      await("the error").atMost(LIMIT).until(() -> !broken.get());
      ledger.changed(null, workload(3, "QuotaReserved=True@10", "Admitted=True@20"));
      now = T0.plusSeconds(30);
      awaitText(ledger, " red spot cpu reserved=40 run=20 lost=0;");
    }
  }

  /** H2 keeps what a migration did before it failed. */
  @Test
  void aSchemaThatCannotBeMadeIsToldOnceAndMadeWhenItCan() throws Exception {
    DataSource source = new LedgerDatabase(embedded()).dataSource();
    execute(source, "CREATE TABLE sluice_attempt_amount (amount INTEGER)");
    AtomicInteger steps = new AtomicInteger();
    try (LogLines lines = new LogLines();
        Ledger ledger =
            started(
                "a",
                embedded(),
                () -> {
                  steps.incrementAndGet();
                  return true;
                })) {
      ledger.changed(null, workload(3, "QuotaReserved=True@10", "Admitted=True@20"));
      await("some trials").atMost(LIMIT).until(() -> steps.get() > 4);
      assertThat(lines.text())
          .contains("ledger written=false waiting=")
          .containsOnlyOnce("the schema can't be migrated")
          .containsOnlyOnce("give the ledger an empty one");
      execute(source, "DROP TABLE sluice_attempt_amount");
      now = T0.plusSeconds(30);
      awaitText(ledger, " red spot cpu reserved=40 run=20 lost=0;");
      assertThat(lines.text()).contains("ledger written=true waiting=");
    }
  }

  private static void execute(DataSource source, String sql) throws SQLException {
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Whoever may write a status can't keep rows of others from being written. */
  @Test
  void aHostileStatusGivesARowThatTheDatabaseTakes() throws Exception {
    now = T0.plusSeconds(900);
    CachedWorkload hostile =
        parser.parse(
            """
            {"metadata": {"name": "job", "namespace": "ns", "uid": "u1", "resourceVersion": "7",
               "creationTimestamp": "%1$s", "labels": {"team": "red"}},
             "spec": {"queueName": "%2$s", "podSets": [{"name": "main", "count": 2, "template":
               {"spec": {"containers": [{"name": "c"}]}}}]},
             "status": {"conditions": [
               {"type": "QuotaReserved", "status": "True", "reason": "a", "message": "",
                "lastTransitionTime": "%1$s"},
               {"type": "Finished", "status": "True", "reason": "\\u0000%2$s", "message": "",
                "lastTransitionTime": "%3$s"}],
             "admission": {"clusterQueue": "%2$s\\u0000", "podSetAssignments": [{"name": "main",
               "count": 2, "flavors": {"cpu": "spot", "memory": "%2$s"},
               "resourceUsage": {"cpu": "9E", "memory": "%4$s", "%2$s": "-9E"}}]}}}
            """
                .formatted(T0, "x".repeat(5_000), T0.plusSeconds(10), "9".repeat(1_000))
                .getBytes(StandardCharsets.UTF_8));
    try (Ledger ledger = started("a", embedded())) {
      ledger.changed(null, hostile);
      ledger.changed(null, other(8, "QuotaReserved=True@10", "Finished=True@20@Failed"));
      await("both rows").atMost(LIMIT).until(() -> text(ledger).contains("Failed"));
      assertThat(text(ledger))
          .contains("Failed red spot cpu reserved=20 run=0 lost=0;")
          // the largest amount for ten seconds
          .contains("Stopped red spot cpu reserved=92233720368547758.07 run=0 lost=0;");
    }
  }

  @Test
  void observationsAreWrittenTogetherWhenSomebodyAsksAndAtTheEnd() throws Exception {
    AtomicInteger steps = new AtomicInteger();
    LedgerOptions options =
        LedgerStoreTest.options(directory.resolve("ledger"), Duration.ofHours(1));
    CachedWorkload reserved = workload(3, "QuotaReserved=True@10");
    cache.seen(reserved);
    cache.reached(3);
    now = T0.plusSeconds(30);
    try (Ledger ledger =
        started(
            "a",
            options,
            () -> {
              steps.incrementAndGet();
              return true;
            })) {
      // what the comparison with the rows told
      Path buffer = directory.resolve("ledger/ledger-a.buffer");
      await("something that waits").atMost(LIMIT).until(() -> Files.size(buffer) > 0);
      int before = steps.get();
      await("more trials").atMost(LIMIT).until(() -> steps.get() > before + 3);
      assertThat(buffer).isNotEmptyFile();
      assertThat(text(ledger)).isEqualTo(" red spot cpu reserved=40 run=0 lost=0;");
      assertThat(buffer).isEmptyFile();
      CachedWorkload admitted = workload(5, "QuotaReserved=True@10", "Admitted=True@20");
      ledger.changed(reserved, admitted);
      ledger.stop(LIMIT);
      assertThat(text(ledger)).isEqualTo(" red spot cpu reserved=40 run=20 lost=0;");
    }
  }

  @Test
  void nothingIsDeletedByAClockThatWasSetToALaterTime() throws Exception {
    try (Ledger ledger = started("a", embedded())) {
      now = T0.plusSeconds(30);
      ledger.changed(null, workload(3, "QuotaReserved=True@10", "Finished=True@20@Failed"));
      String ended = "Failed red spot cpu reserved=20 run=0 lost=0;";
      awaitText(ledger, ended);
      now = T0.plus(Duration.ofDays(500));
      CachedWorkload reserved = other(4, "QuotaReserved=True@10");
      ledger.changed(null, reserved);
      awaitText(ledger, " red spot cpu reserved=172780 run=0 lost=0;" + ended);
      // rows are deleted after others are written, so before these
      ledger.changed(reserved, other(5, "QuotaReserved=True@10", "Finished=True@30@Stopped"));
      awaitText(ledger, ended + "Stopped red spot cpu reserved=40 run=0 lost=0;");
    }
  }

  /** Time axis, section 6: export for one namespace, a row for each attempt. */
  @Test
  void attemptsOfANamespaceAreExported() throws Exception {
    try (Ledger ledger = started("a", embedded())) {
      CachedWorkload reserved = workload(2, "QuotaReserved=True@0", "Admitted=True@10");
      ledger.changed(workload(1), reserved);
      ledger.changed(
          reserved,
          workload(3, "QuotaReserved=True@0", "Admitted=True@10", "Finished=True@30@Succeeded"));
      ledger.changed(other(4), other(5, "QuotaReserved=True@0"));
      now = T0.plusSeconds(100);
      awaitText(
          ledger,
          " red spot cpu reserved=200 run=0 lost=0;"
              + "Succeeded red spot cpu reserved=60 run=40 lost=0;");
      JsonNode page = ledger.attempts("ns", "");
      assertThat(page.path("continue").asText()).isEmpty();
      assertThat(page.path("rows")).as("what goes on isn't told").hasSize(1);
      JsonNode row = page.path("rows").get(0);
      assertThat(row.path("workload").asText()).isEqualTo("job");
      assertThat(row.path("workloadUid").asText()).isEqualTo("u1");
      assertThat(row.path("amount").asText()).isEqualTo("2");
      assertThat(row.path("readyAt").asText()).isEqualTo("2026-03-01T10:00:10Z");
      assertThat(row.path("endedAt").asText()).isEqualTo("2026-03-01T10:00:30Z");
      assertThat(row.path("outcome").asText()).isEqualTo("Succeeded");
      assertThat(row.path("reserved").asText()).isEqualTo("60");
      assertThat(row.path("run").asText()).isEqualTo("40");
      assertThat(row.path("waited").asText()).isEqualTo("20");
      assertThat(ledger.attempts("elsewhere", "").path("rows").isEmpty()).isTrue();
      assertThat(ledger.attempts("ns", "99").path("rows").isEmpty()).isTrue();
    }
    try (LedgerStore store = new LedgerDatabase(embedded()).migrated()) {
      assertThat(store.attempts("ns", 0, 1).next()).as("there may be more").isPositive();
    }
  }

  /** Time axis, section 6: what runs counts while it runs, in the end as often as it was used. */
  @Test
  void whatIsUsedCountsMinuteByMinuteAndOnce() throws Exception {
    CachedWorkload reserved = workload(2, "QuotaReserved=True@0");
    CachedWorkload ready = workload(3, "QuotaReserved=True@0", "Admitted=True@30");
    cache.seen(reserved);
    try (Ledger ledger = started("a", embedded())) {
      now = T0.plusSeconds(59);
      awaitText(ledger, " red spot cpu reserved=118 run=0 lost=0;");
      now = T0.plusSeconds(60);
      awaitSeconds("waited", 120);
      cache.seen(ready);
      ledger.changed(reserved, ready); // said later than a minute's waiting was counted
      awaitText(ledger, " red spot cpu reserved=120 run=60 lost=0;");
      now = T0.plusSeconds(120);
      awaitSeconds("run", 180);
      assertThat(seconds("waited")).isEqualTo(120);
      assertThat(seconds("reserved")).isEqualTo(240);
    }
    registry = new PrometheusRegistry();
    metrics = new LedgerMetrics(registry);
    now = T0.plusSeconds(130);
    try (Ledger ledger = started("b", embedded())) {
      now = T0.plusSeconds(190);
      awaitSeconds("run", 120);
      ledger.changed(
          ready,
          workload(4, "QuotaReserved=True@0", "Admitted=True@30", "Finished=True@150@Succeeded"));
      CachedWorkload next = other(5, "QuotaReserved=True@190", "Admitted=True@190");
      ledger.changed(other(4), next);
      awaitText(ledger, "Succeeded red spot cpu reserved=300 run=240 lost=0;");
      now = T0.plusSeconds(250);
      // of the end 80 was told too much, which the other one has used by now
      ledger.changed(
          next,
          other(6, "QuotaReserved=True@190", "Admitted=True@190", "Finished=True@250@Succeeded"));
      awaitSeconds("run", 160);
    }
  }

  /** Rows that are newer than what was read of Workloads keep it from catching up. */
  @Test
  void whatIsUsedCountsFromTheBeginOfLeading() throws Exception {
    CachedWorkload running = workload(7, "QuotaReserved=True@0", "Admitted=True@0");
    try (Ledger ledger = started("a", embedded())) {
      ledger.changed(null, running);
      now = T0.plusSeconds(30);
      awaitText(ledger, " red spot cpu reserved=60 run=60 lost=0;");
    }
    registry = new PrometheusRegistry();
    metrics = new LedgerMetrics(registry);
    leading.set(false);
    AtomicInteger following = new AtomicInteger();
    AtomicInteger led = new AtomicInteger();
    BooleanSupplier counted =
        () -> {
          boolean leads = leading.get();
          (leads ? led : following).incrementAndGet();
          return leads;
        };
    try (Ledger ledger = started("b", embedded(), counted)) {
      await("a step that follows").atMost(LIMIT).until(() -> following.get() > 0);
      now = T0.plusSeconds(100);
      leading.set(true);
      await("a step that leads").atMost(LIMIT).until(() -> led.get() > 1);
      now = T0.plusSeconds(200);
      cache.seen(running);
      cache.reached(8);
      awaitSeconds("run", 200);
    }
  }

  private void awaitSeconds(String state, double expected) {
    await(state).atMost(LIMIT).untilAsserted(() -> assertThat(seconds(state)).isEqualTo(expected));
  }

  @Test
  void seriesOfQueuesThatAreGoneEnd() {
    metrics.used("queue", "spot", "cpu", new Ledger.Use(2e6, 0, 0, 0));
    metrics.used("gone", "spot", "cpu", new Ledger.Use(3e6, 0, 0, 0));
    metrics.forgetRemoved("queue"::equals);
    assertThat(seconds("reserved")).isEqualTo(2);
  }
}
