package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.AuditReport.JobRecord;
import dev.sluice.lab.audit.AuditReport.Rule;
import dev.sluice.lab.audit.AuditReport.Violation;
import dev.sluice.lab.audit.StoreHistory;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.binaries.Program;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.server.HostileConnections;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Everything that people who mean harm do, at the same time, against an operator with little
 * memory: poison objects, hostile connections to the webhooks, a worker cluster that is cut off and
 * loses its operator, a restart of the API server and a kill of the operator, while honest Jobs of
 * two teams run here and those of a third one in two workers. The attacks last from the first Job
 * to the last.
 */
final class AttackedOperator {

  private static final Logger LOG = LoggerFactory.getLogger(AttackedOperator.class);

  private static final String HEAP = "-Xmx256m";

  /** Heap, direct memory, code, classes and threads of one operator. */
  private static final long MOST_RESIDENT = 640L << 20;

  /**
   * Longer than the API server is away on a busy machine: a leader that can't renew its lease ends,
   * which is no failure, but would hide those that are.
   */
  private static final Duration LEASE = Duration.ofSeconds(120);

  /** So long after a worker was cut off its Jobs go to another one. */
  private static final Duration WORKER_LOST = Duration.ofSeconds(30);

  private static final String REVIEWS = "/validate-batch-v1-job";
  private static final Duration START = Duration.ofMinutes(5);
  private static final long SEED = 7;

  /** Of the adversary's own objects these rules hold, too. */
  private static final Set<Rule> FOR_ALL =
      Set.of(Rule.QUOTA_KEPT, Rule.PODS_WITHIN_QUOTA, Rule.HELD_UNTIL_ADMITTED);

  /** The pods of a copy that the manager withdraws end after its Workload. */
  private static final Set<Rule> IN_WORKERS = Set.of(Rule.QUOTA_KEPT, Rule.HELD_UNTIL_ADMITTED);

  private final ControlPlane controlPlane;
  private final TestCluster cluster;
  private final Size size;
  private final List<String> teams = new ArrayList<>();

  /**
   * How much of everything.
   *
   * @param jobs of each of the two teams
   * @param sent Jobs of the team whose Jobs run in workers
   * @param room how many Jobs of a team fit at a time into its quota
   * @param runFor how long their pods run
   * @param connections how many connections of each of ten kinds, four times
   * @param rounds how often poison objects of all kinds are written at least; up to five times as
   *     often while Jobs run
   * @param limit for all Jobs to finish
   */
  record Size(
      int jobs, int sent, int room, Duration runFor, int connections, int rounds, Duration limit) {

    int all() {
      return 2 * jobs + sent;
    }
  }

  AttackedOperator(ControlPlane controlPlane, TestCluster cluster, Size size) {
    this.controlPlane = controlPlane;
    this.cluster = cluster;
    this.size = size;
  }

  /** Plays it, and asserts that the honest Jobs lose nothing by it but time. */
  void play() throws Exception {
    OperatorSettings settings =
        OperatorSettings.onFreePorts(new SecureRandom())
            .withLeases(LEASE, LEASE.minusSeconds(10), Duration.ofSeconds(1))
            .with(
                "multiKueue: {workerLostTimeout: %ds, gcInterval: 5s}\n"
                    .formatted(WORKER_LOST.toSeconds()));
    Outages outages = new Outages(cluster.client());
    Report report;
    try (Restarts operator =
            new Restarts(cluster.kubeconfig(), settings, controlPlane.logs(), List.of(HEAP));
        ScheduledExecutorService others = Executors.newScheduledThreadPool(4);
        HostileConnections hostile = new HostileConnections(settings.webhookPort(), REVIEWS)) {
      operator.awaitLeading(START);
      String own = namespace("mallory");
      teams.add(namespace("team-a"));
      teams.add(namespace("team-b"));
      try (WorkersUnderAttack workers = new WorkersUnderAttack(cluster.client(), size.limit());
          JobLoad one = new JobLoad(cluster, teams.getFirst(), size.runFor());
          JobLoad two = new JobLoad(cluster, teams.getLast(), size.runFor());
          JobLoad sent = new JobLoad(cluster, WorkersUnderAttack.NAMESPACE, size.runFor())) {
        others.scheduleWithFixedDelay(operator::watch, 1, 1, TimeUnit.SECONDS);
        List<JobLoad> loads = List.of(one, two, sent);
        PoisonObjects poison =
            new PoisonObjects(
                cluster,
                List.of(teams.getFirst(), teams.getLast(), WorkersUnderAttack.NAMESPACE),
                own,
                SEED);
        AtomicBoolean over = new AtomicBoolean();
        Future<?> writes = others.submit(() -> write(poison, over));
        hostile.attack(size.connections());
        one.submit(size.jobs());
        two.submit(size.jobs());
        sent.submit(size.sent());

        workers.partition();
        hostile.attack(size.connections());
        awaitCompleted(loads, size.all() / 4);
        outages.begin();
        controlPlane.restart(Program.API_SERVER);
        outages.end(others);

        awaitCompleted(loads, size.all() / 2);
        operator.kill();
        deleteLease();
        hostile.attack(size.connections());
        operator.awaitLeading(START);
        hostile.attack(size.connections());
        workers.mend();

        awaitCompleted(loads, size.all());
        over.set(true);
        writes.get();
        await().atMost(size.limit()).until(outages::over);
        workers.judge(IN_WORKERS);
        operator.watch();
        report = new Report(poison, hostile, operator);
        LOG.info("{}", report);
      } finally {
        others.shutdownNow();
      }
    }
    judge(outages);
    assertThat(report.rounds()).isGreaterThanOrEqualTo(size.rounds());
    assertThat(report.accepted()).isGreaterThan(40 * size.rounds());
    assertThat(report.refused()).isPositive();
    assertThat(report.ends()).as("operators that ended by themselves").isZero();
    assertThat(report.peakResident()).isBetween(1L, MOST_RESIDENT);
  }

  /** What happened besides. */
  private record Report(
      int rounds, int accepted, int refused, int connections, int ends, long peakResident) {
    Report(PoisonObjects poison, HostileConnections hostile, Restarts operator) {
      this(
          poison.rounds(),
          poison.accepted(),
          poison.refused(),
          hostile.opened(),
          operator.ends(),
          operator.peakResidentBytes());
    }
  }

  /** The killed leader can't release its lease; its successor needn't wait for the lease's end. */
  private void deleteLease() {
    cluster
        .client()
        .leases()
        .inNamespace("kueue-system")
        .withName("c1f6bfd2.kueue.x-k8s.io")
        .delete();
  }

  private void write(PoisonObjects poison, AtomicBoolean over) {
    for (int round = 0; round < 5 * size.rounds(); round++) {
      if ((round < size.rounds() || !over.get()) && !Thread.currentThread().isInterrupted()) {
        poison.write();
      }
    }
  }

  /** A namespace with a queue, and quota for it. */
  private String namespace(String stem) {
    String namespace = cluster.createNamespace(stem);
    String queues =
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "flavor-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: %1$s}
        spec:
          namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %2$s}}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "flavor-${suffix}"
              resources: [{name: cpu, nominalQuota: %3$d}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: main, namespace: %2$s}
        spec: {clusterQueue: %1$s}
        """
            .formatted(PoisonObjects.pool(namespace), namespace, size.room());
    await().atMost(START).ignoreExceptions().until(() -> !cluster.applyText(queues).isEmpty());
    return namespace;
  }

  /** Waits until so many Jobs of all teams are complete. */
  private void awaitCompleted(List<JobLoad> loads, int jobs) {
    await()
        .atMost(size.limit())
        .pollInterval(Duration.ofMillis(500))
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(() -> loads.stream().mapToInt(JobLoad::completed).sum() >= jobs);
  }

  private void judge(Outages outages) {
    StoreHistory history = new StoreHistory(controlPlane.store());
    AuditReport report = history.audit();
    List<Violation> made = outages.madeTwiceByTheJobController(report.violations());
    List<Violation> violations =
        report.violations().stream()
            .filter(
                violation -> !isPoison(violation.subject()) || FOR_ALL.contains(violation.rule()))
            .filter(violation -> !made.contains(violation))
            .filter(
                violation ->
                    violation.rule() != Rule.ONE_SET_OF_PODS || !isSent(violation.subject()))
            .toList();
    LOG.info("{}; pods made twice while answers got lost: {}", report.summary(), made);

    assertThat(violations).isEmpty();
    List<JobRecord> honest = report.jobs().stream().filter(job -> !isPoison(job.name())).toList();
    assertThat(honest).hasSize(size.all());
    assertThat(honest).extracting(JobRecord::end).containsOnly("Complete");
    assertThat(honest)
        .filteredOn(job -> !isSent(job.name()))
        .hasSize(2 * size.jobs())
        .extracting(JobRecord::starts)
        .containsOnly(1);
    assertThat(honest)
        .filteredOn(job -> isSent(job.name()))
        .hasSize(size.sent())
        .extracting(JobRecord::pods)
        .containsOnly(0);
    assertThat(report.peaks().keySet().stream().map(it -> it.clusterQueue()))
        .as("all teams used their quota")
        .contains(
            PoisonObjects.pool(teams.getFirst()),
            PoisonObjects.pool(teams.getLast()),
            WorkersUnderAttack.NAMESPACE);
  }

  /** Of a Job whose pods are in a worker. */
  private static boolean isSent(String job) {
    return job.startsWith(WorkersUnderAttack.NAMESPACE + "/");
  }

  private static boolean isPoison(String subject) {
    return subject.contains(PoisonObjects.PREFIX);
  }
}
