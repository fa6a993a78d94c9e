package dev.sluice.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.app.Main;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.ObjectChange;
import dev.sluice.lab.audit.StoreHistory;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.ledger.UsageRows.UsageRow;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine;

/**
 * Jobs run, are preempted and deleted while the operator is killed again and again and the server
 * of the database is away for a while; the rows are what the API said, version by version.
 *
 * <p>{@code -Dsluice.ledger.jobs}, {@code -Dsluice.ledger.kills} and {@code
 * -Dsluice.ledger.away-seconds} say how many and how long.
 */
@ControlPlaneTest(
    exclusive = true,
    apiServerArguments = {StoreHistory.AS_JSON, StoreHistory.KEPT})
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class LedgerIT {

  private static final int JOBS = Integer.getInteger("sluice.ledger.jobs", 300);
  private static final int KILLS = Integer.getInteger("sluice.ledger.kills", 12);
  private static final Duration AWAY =
      Duration.ofSeconds(Long.getLong("sluice.ledger.away-seconds", 15));
  private static final Duration LIMIT = Duration.ofMinutes(5).plus(AWAY);

  /** What the API said of attempts: their ends, by Workload, begin and ClusterQueue. */
  private final Map<String, String> seen = new ConcurrentHashMap<>();

  private final Map<String, Boolean> deleted = new ConcurrentHashMap<>();

  /** The names of Workloads by their UIDs. */
  private final Map<String, String> names = new ConcurrentHashMap<>();

  /** How long a killed operator was not there, in all. */
  private Duration down = Duration.ZERO;

  /** How long a new leader may wait for the lease of the last one. */
  private static final Duration LEASE = Duration.ofSeconds(15);

  /** The cores of all queues. */
  private static final int CORES = 10;

  private static OperatorSettings settings(Path ledger, String database) {
    return OperatorSettings.onFreePorts(new SecureRandom())
        .withShortLease()
        .with(
            "ledger: {enable: true, labels: [team], currency: EUR, directory: \"%s\"%s}"
                .formatted(ledger.toAbsolutePath(), database));
  }

  private static OperatorProcess start(
      String name, TestCluster cluster, OperatorSettings settings) {
    return OperatorProcess.start(
            name, cluster.kubeconfig(), settings, Path.of("target", "operators"), List.of())
        .awaitReady();
  }

  @Test
  void rowsAreWhatTheApiSaid(
      ControlPlane controlPlane, TestCluster cluster, @TempDir Path directory) throws Exception {
    Path ledger = directory.resolve("ledger");
    JdbcDataSource database = new JdbcDataSource();
    database.setURL("jdbc:h2:file:" + ledger.resolve("ledger"));
    play(controlPlane, cluster, directory, List.of(settings(ledger, "")), () -> {});
    compare(cluster, database);
  }

  /** Two replicas and a server: whoever leads is killed, and the other one takes over. */
  @Test
  void rowsOutliveTheLeader(
      ControlPlane controlPlane,
      TestCluster cluster,
      @TempDir Path directory,
      @TempDir Path serverDirectory)
      throws Exception {
    try (PostgresServer server = PostgresServer.start(serverDirectory, "secret")) {
      Path password = Files.writeString(directory.resolve("password"), "secret");
      String database =
          ", jdbcUrl: \"%s\", username: ledger, passwordFile: \"%s\""
              .formatted(server.url(), password);
      PGSimpleDataSource rows = new PGSimpleDataSource();
      rows.setURL(server.url());
      rows.setUser("ledger");
      rows.setPassword("secret");
      play(
          controlPlane,
          cluster,
          directory,
          List.of(
              settings(directory.resolve("a"), database),
              settings(directory.resolve("b"), database)),
          () -> goesAway(server));
      compare(cluster, rows);
    }
  }

  /** Stops the server while Jobs run and operators are killed. */
  private static void goesAway(PostgresServer server) throws Exception {
    server.end();
    await("the time without a database")
        .pollDelay(AWAY)
        .atMost(AWAY.plusMinutes(1))
        .until(() -> true);
    server.begin();
  }

  /** What happens to the database beside everything else. */
  private interface Outage {
    void pass() throws Exception;
  }

  private void play(
      ControlPlane controlPlane,
      TestCluster cluster,
      Path directory,
      List<OperatorSettings> settings,
      Outage outage)
      throws Exception {
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
    List<OperatorProcess> operators = new ArrayList<>();
    for (int i = 0; i < settings.size(); i++) {
      operators.add(start("ledger-" + i, cluster, settings.get(i)));
    }
    try {
      CompletableFuture<Void> away = CompletableFuture.completedFuture(null);
      createQueues(cluster);
      submit(cluster, "low", JOBS - JOBS / 5, 0, JOBS / 5);
      for (int kill = 1; kill <= KILLS; kill++) {
        int finished = JOBS * kill / (KILLS + 2);
        awaitFinished(cluster, finished);
        if (kill == 1) {
          // they preempt
          submit(cluster, "high", JOBS / 5, JOBS - JOBS / 5, JOBS);
          cluster
              .client()
              .batch()
              .v1()
              .jobs()
              .inNamespace(cluster.namespace())
              .withName(running(cluster))
              .delete();
        }
        if (kill == 1 + KILLS / 4) {
          away =
              CompletableFuture.runAsync(
                  () -> {
                    try {
                      outage.pass();
                    } catch (Exception e) {
                      throw new CompletionException(e);
                    }
                  });
        }
        int leads = (kill - 1) % settings.size();
        Instant killed = Instant.now();
        operators.get(leads).kill();
        operators.set(leads, start("ledger-" + leads, cluster, settings.get(leads)));
        down = down.plus(Duration.between(killed, Instant.now())).plus(LEASE);
      }
      awaitFinished(cluster, JOBS - 1);
      away.join();
      await("all Workloads to have ended")
          .atMost(LIMIT)
          .pollInterval(Duration.ofSeconds(3))
          .until(
              () -> {
                look(controlPlane, cluster);
                return seen.entrySet().stream()
                    .filter(each -> each.getValue().equals("?"))
                    .allMatch(each -> deleted.containsKey(each.getKey().split(" ")[0]));
              });
      Path kubeconfig = kubeconfig(cluster, settings.getFirst(), directory);
      await("everything to be written")
          .atMost(LIMIT)
          .pollInterval(Duration.ofSeconds(3)) // one user may ask twice a second
          .untilAsserted(
              () -> {
                BigDecimal used = used(cluster, kubeconfig);
                BigDecimal told = BigDecimal.valueOf(seconds());
                assertThat(used)
                    .as("core-seconds; %s", used.compareTo(told) == 0 ? "" : differing(kubeconfig))
                    .isEqualByComparingTo(told);
              });
      await("the budget to be written")
          .atMost(LIMIT)
          .pollInterval(Duration.ofSeconds(3))
          .untilAsserted(() -> compareBudget(cluster, kubeconfig));
      operators.forEach(operator -> assertThat(operator.stop()).isTrue());
    } finally {
      operators.forEach(OperatorProcess::close);
    }
  }

  /**
   * A budget has spent what the rows say, and no less, whoever was killed: what ended while nobody
   * looked may be charged until somebody did.
   */
  private void compareBudget(TestCluster cluster, Path kubeconfig) throws IOException {
    BigDecimal hour = BigDecimal.valueOf(3_600);
    BigDecimal spent =
        new BigDecimal(
            new ObjectMapper()
                .valueToTree(
                    cluster
                        .client()
                        .genericKubernetesResources("sluice.dev/v1alpha1", "Budget")
                        .withName(cluster.name("all"))
                        .get()
                        .getAdditionalProperties())
                .at("/status/limits/0/spent")
                .asText());
    BigDecimal used =
        UsageDocument.parse(
                new ObjectMapper()
                    .readTree(usage(kubeconfig, "--by", "queue", "--since", "1d", "-o", "json")))
            .rows()
            .stream()
            .map(UsageRow::reserved)
            .reduce(BigDecimal.ZERO, BigDecimal::add);
    System.out.printf(
        "ledger: budgetSpentHours=%s rowsHours=%s downSeconds=%d%n",
        spent, used.divide(hour, 3, RoundingMode.DOWN), down.toSeconds());
    assertThat(spent)
        .isGreaterThanOrEqualTo(used.divide(hour, 3, RoundingMode.DOWN))
        .isLessThanOrEqualTo(
            used.add(BigDecimal.valueOf(CORES * down.toSeconds()))
                .divide(hour, 3, RoundingMode.UP));
  }

  private void compare(TestCluster cluster, DataSource database) throws Exception {
    assertThat(seen.values()).as("what the API said").hasSizeGreaterThanOrEqualTo(JOBS);
    assertThat(seen.values()).anyMatch(end -> end.startsWith("Evicted"));
    Map<String, String> rows = rows(cluster, database);
    Map<String, String> expected = new TreeMap<>(seen);
    for (String uid : deleted.keySet()) {
      // when quota was released isn't in the API; that there is a row is
      expected.replaceAll((key, end) -> key.startsWith(uid) && end.equals("?") ? "Deleted" : end);
      rows.replaceAll(
          (key, end) -> key.startsWith(uid) && end.startsWith("Deleted") ? "Deleted" : end);
    }
    assertThat(rows).isEqualTo(expected);
    System.out.printf(
        "ledger: jobs=%d kills=%d attempts=%d evicted=%d coreSeconds=%d%n",
        JOBS,
        KILLS,
        rows.size(),
        seen.values().stream().filter(end -> end.startsWith("Evicted")).count(),
        seconds());
  }

  /** The Workloads whose core-seconds aren't those that the API told, with what it told. */
  private Map<String, String> differing(Path kubeconfig) throws IOException {
    Map<String, BigDecimal> used = new TreeMap<>();
    for (UsageRow row :
        UsageDocument.parse(
                new ObjectMapper()
                    .readTree(usage(kubeconfig, "--by", "workload", "--since", "1d", "-o", "json")))
            .rows()) {
      used.merge(row.by().getOrDefault("workload", ""), row.reserved(), BigDecimal::add);
    }
    Map<String, String> differing = new TreeMap<>();
    names.forEach(
        (uid, name) -> {
          BigDecimal told = BigDecimal.valueOf(seconds(uid));
          BigDecimal rows = used.getOrDefault(name, BigDecimal.ZERO);
          if (told.compareTo(rows) != 0) {
            Map<String, String> ends = new TreeMap<>(seen);
            ends.keySet().removeIf(key -> !key.startsWith(uid));
            differing.put(name + "=" + rows.toPlainString(), ends.toString());
          }
        });
    return differing;
  }

  /** What attempts used whose ends are in the API, in core-seconds. */
  private long seconds() {
    return seconds("");
  }

  /** The same of the Workload of a UID. */
  private long seconds(String uid) {
    return seen.entrySet().stream()
        .filter(each -> each.getKey().startsWith(uid))
        .filter(each -> !each.getValue().equals("?"))
        .mapToLong(
            each ->
                Duration.between(
                        Instant.parse(each.getKey().split(" ")[1]),
                        Instant.parse(each.getValue().split(" ")[1]))
                    .toSeconds())
        .sum();
  }

  /** Every attempt, by Workload, begin and ClusterQueue: its end. */
  private static Map<String, String> rows(TestCluster cluster, DataSource source) throws Exception {
    Map<String, String> rows = new TreeMap<>();
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement();
        ResultSet each =
            statement.executeQuery(
                "SELECT workload_uid, reserved_at, outcome, ended_at, amount, reserved,"
                    + " cluster_queue, cohort_path FROM sluice_ledger")) {
      while (each.next()) {
        Instant from = Instant.ofEpochMilli(each.getLong(2));
        Instant to = Instant.ofEpochMilli(each.getLong(4));
        String key = each.getString(1) + " " + from + " " + each.getString(7);
        assertThat(rows.put(key, each.getString(3) + " " + to)).isNull();
        assertThat(each.getString(8)).isEqualTo(cluster.name("all"));
        assertThat(each.getBigDecimal(6))
            .isEqualByComparingTo(
                BigDecimal.valueOf(1_000L * Duration.between(from, to).toMillis()));
      }
    }
    return rows;
  }

  private static Path kubeconfig(TestCluster cluster, OperatorSettings settings, Path directory)
      throws IOException {
    return Files.writeString(
        directory.resolve("kubeconfig"),
        """
        apiVersion: v1
        kind: Config
        current-context: own
        contexts: [{name: own, context: {cluster: own, user: own}}]
        clusters:
        - name: own
          cluster: {server: "https://127.0.0.1:%d", insecure-skip-tls-verify: true}
        users: [{name: own, user: {token: "%s"}}]
        """
            .formatted(settings.visibilityPort(), token(cluster)));
  }

  /** What the rows say of the same. */
  private static BigDecimal used(TestCluster cluster, Path kubeconfig) throws IOException {
    String answer = usage(kubeconfig, "--by", "label:team,queue", "-o", "json");
    List<UsageRow> rows = UsageDocument.parse(new ObjectMapper().readTree(answer)).rows();
    assertThat(rows).extracting(row -> row.by().get("label:team")).containsOnly("blue", "red");
    assertThat(rows)
        .extracting(row -> row.by().get("queue"))
        .containsOnly(cluster.name("used-a"), cluster.name("used-b"));
    BigDecimal used =
        rows.stream().map(UsageRow::reserved).reduce(BigDecimal.ZERO, BigDecimal::add);
    BigDecimal ofDeleted = rowsOfDeleted(usage(kubeconfig, "--by", "outcome", "-o", "json"));
    assertThat(rows)
        .allSatisfy(
            row -> assertThat(row.run().add(row.waited())).isEqualByComparingTo(row.reserved()));
    assertThat(usage(kubeconfig, "--by", "queue")).contains("QUEUE", "Core-Hours", "COST EUR");
    // a hundredth for each second, from when the leader knew the price on
    assertThat(rows)
        .allSatisfy(
            row ->
                assertThat(row.cost())
                    .isPositive()
                    .isLessThanOrEqualTo(row.reserved().movePointLeft(2)));
    assertThat(usage(kubeconfig, "--by", "namespace", "-n", cluster.namespace(), "-o", "focus"))
        .contains("SubAccountId")
        .contains(cluster.namespace());
    return used.subtract(ofDeleted);
  }

  private static BigDecimal rowsOfDeleted(String answer) throws IOException {
    return UsageDocument.parse(new ObjectMapper().readTree(answer)).rows().stream()
        .filter(row -> "Deleted".equals(row.by().get("outcome")))
        .map(UsageRow::reserved)
        .reduce(BigDecimal.ZERO, BigDecimal::add);
  }

  private static String usage(Path kubeconfig, String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter errors = new StringWriter();
    CommandLine line = Main.commandLine();
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(errors));
    int code =
        line.execute(
            Stream.concat(
                    Stream.of("usage", "--kubeconfig", kubeconfig.toString()), Stream.of(arguments))
                .toArray(String[]::new));
    assertThat(code).as(errors.toString()).isZero();
    return out.toString();
  }

  /** A token of a service account that may list usage, and nothing else. */
  private static String token(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: accountant, namespace: "${namespace}"}
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: "usage-${suffix}"}
        rules: [{apiGroups: [visibility.kueue.x-k8s.io], resources: [usage], verbs: [list]}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: "usage-${suffix}"}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "usage-${suffix}"}
        subjects: [{kind: ServiceAccount, name: accountant, namespace: "${namespace}"}]
        """);
    return cluster
        .client()
        .serviceAccounts()
        .inNamespace(cluster.namespace())
        .withName("accountant")
        .tokenRequest(new TokenRequestBuilder().withNewSpec().endSpec().build())
        .getStatus()
        .getToken();
  }

  /**
   * Reads from the store what all versions of Workloads said. Watches don't do: an operator that
   * starts changes the definition, which ends them, and who lists anew skips versions.
   */
  private void look(ControlPlane controlPlane, TestCluster cluster) {
    seen.clear();
    Map<String, String> open = new HashMap<>();
    for (ObjectChange objectChange : new StoreHistory(controlPlane.store()).changes()) {
      JsonNode metadata = objectChange.object().path("metadata");
      if (objectChange.kind() == AuditedKind.WORKLOAD
          && metadata.path("namespace").asText().equals(cluster.namespace())) {
        String uid = metadata.path("uid").asText();
        names.put(uid, metadata.path("name").asText());
        if (objectChange.deleted()) {
          deleted.put(uid, true);
        } else {
          look(uid, objectChange.object().path("status"), open);
        }
      }
    }
  }

  private void look(String uid, JsonNode status, Map<String, String> open) {
    Optional<JsonNode> reserved = condition(status, "QuotaReserved");
    Optional<JsonNode> finished =
        condition(status, "Finished").filter(it -> it.path("status").asText().equals("True"));
    if (reserved.filter(it -> it.path("status").asText().equals("True")).isPresent()) {
      String key =
          "%s %s %s"
              .formatted(
                  uid,
                  reserved.get().path("lastTransitionTime").asText(),
                  status.path("admission").path("clusterQueue").asText());
      open.put(uid, key);
      // quota that is reserved again within the second of its release is the same attempt
      seen.merge(key, "?", (end, unknown) -> end.startsWith("Evicted") ? unknown : end);
      finished.ifPresent(
          end ->
              seen.put(
                  key,
                  end.path("reason").asText() + " " + end.path("lastTransitionTime").asText()));
    } else if (open.containsKey(uid) && reserved.isPresent()) {
      seen.replace(
          open.remove(uid), "?", "Evicted " + reserved.get().path("lastTransitionTime").asText());
    }
  }

  private static Optional<JsonNode> condition(JsonNode status, String type) {
    for (JsonNode condition : status.path("conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return Optional.of(condition);
      }
    }
    return Optional.empty();
  }

  private static void createQueues(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "used-${suffix}", annotations: {sluice.dev/price: cpu=36/h}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Cohort
        metadata: {name: "all-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "used-a-${suffix}"}
        spec:
          cohortName: "all-${suffix}"
          namespaceSelector: {}
          preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "used-${suffix}", resources: [{name: cpu, nominalQuota: 5}]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "used-b-${suffix}"}
        spec:
          cohortName: "all-${suffix}"
          namespaceSelector: {}
          preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "used-${suffix}", resources: [{name: cpu, nominalQuota: 5}]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: used-0}
        spec: {clusterQueue: "used-a-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: used-1}
        spec: {clusterQueue: "used-b-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "high-${suffix}"}
        value: 1000
        ---
        apiVersion: sluice.dev/v1alpha1
        kind: Budget
        metadata: {name: "all-${suffix}"}
        spec:
          scope: {cohort: "all-${suffix}"}
          limits: [{resource: cpu, hours: 100000}]
          period: Yearly
          charge: AsUsed
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: WorkloadPriorityClass
        metadata: {name: "low-${suffix}"}
        value: 1
        """);
  }

  private static void submit(TestCluster cluster, String priority, int count, int from, int red) {
    for (int i = from; i < from + count; i++) {
      cluster.applyText(
          """
          apiVersion: batch/v1
          kind: Job
          metadata:
            name: used-%d
            labels:
              kueue.x-k8s.io/queue-name: used-%d
              kueue.x-k8s.io/priority-class: "%s-${suffix}"
              team: %s
          spec:
            template:
              metadata: {annotations: {sluice.dev/run-for: 2s}}
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
          """
              .formatted(i, i % 2, priority, i < red ? "red" : "blue"));
    }
  }

  private static String running(TestCluster cluster) {
    return await("a job that runs")
        .atMost(LIMIT)
        .until(
            () ->
                cluster
                    .client()
                    .batch()
                    .v1()
                    .jobs()
                    .inNamespace(cluster.namespace())
                    .list()
                    .getItems()
                    .stream()
                    .filter(job -> !Boolean.TRUE.equals(job.getSpec().getSuspend()))
                    .filter(job -> job.getStatus().getCompletionTime() == null)
                    .map(job -> job.getMetadata().getName())
                    .findFirst(),
            Optional::isPresent)
        .orElseThrow();
  }

  private static void awaitFinished(TestCluster cluster, int jobs) {
    await(jobs + " finished Workloads")
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(500))
        .until(
            () ->
                cluster
                        .client()
                        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
                        .inNamespace(cluster.namespace())
                        .list()
                        .getItems()
                        .stream()
                        .filter(each -> isFinished(each))
                        .count()
                    >= jobs);
  }

  private static boolean isFinished(GenericKubernetesResource workload) {
    JsonNode status =
        new ObjectMapper().valueToTree(workload.getAdditionalProperties()).path("status");
    return condition(status, "Finished").isPresent();
  }

  /** Without a ledger, nothing of it is in the process. */
  @Test
  void nothingOfItIsLoadedWhileItIsOff(TestCluster cluster, @TempDir Path directory)
      throws Exception {
    Path loaded = directory.resolve("loaded");
    try (OperatorProcess operator =
        OperatorProcess.start(
                "ledger-off",
                cluster.kubeconfig(),
                OperatorSettings.onFreePorts(new SecureRandom()).withShortLease(),
                Path.of("target", "operators"),
                List.of(),
                List.of("-Xlog:class+load:file=" + loaded))
            .awaitReady()) {
      try (Stream<String> lines = Files.lines(loaded)) {
        assertThat(
                lines.filter(
                    line ->
                        line.contains(" dev.sluice.ledger.")
                            || line.contains(" org.h2.")
                            || line.contains(" org.flywaydb.")
                            || line.contains(" org.postgresql.")))
            .isEmpty();
      }
      try (Stream<String> lines = Files.lines(loaded)) {
        assertThat(lines).anyMatch(line -> line.contains("SchedulerModule"));
      }
      assertThat(operator.isAlive()).isTrue();
    }
  }
}
