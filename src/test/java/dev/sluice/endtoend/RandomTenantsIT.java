package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.endtoend.NamespaceJudge.Excess;
import dev.sluice.jobs.JobKind;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.PlayedKinds;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A tenant does anything at random that RBAC lets him do, in a namespace in which everything has to
 * be queued, beside a team whose Jobs have to finish. Judged is what ran on nodes. {@code
 * -Dsluice.tenants.steps=N} plays so many steps, {@code -Dsluice.seed=N} others, and {@code
 * -Dsluice.tenants.first=N} begins at the step of this number.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
@Order(3)
class RandomTenantsIT {

  private static final Logger LOG = LoggerFactory.getLogger(RandomTenantsIT.class);
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final long SEED = 20_26;
  private static final int STEPS = 300;
  private static final int WRITERS = 8;
  private static final int CPUS = 8;
  private static final int NAMES = 3;

  /** One honest Job for so many steps. */
  private static final int STEPS_PER_HONEST_JOB = 100;

  private static final int TOLD = 400;

  /** What docs/pod-accounting.md tells of 99 of 100 excesses. */
  private static final Duration BOUND = Duration.ofSeconds(2);

  @Test
  void nobodyRunsMoreForLongerThanDetectionTakes(TestCluster cluster) throws Exception {
    List<Duration> excesses = play("Detect", cluster);
    assertThat(at(excesses, 0.99)).isLessThanOrEqualTo(BOUND);
  }

  @Test
  void nobodyEverRunsMoreWherePodsAreReviewed(TestCluster cluster) throws Exception {
    assertThat(play("Prevent", cluster)).isEmpty();
  }

  /** Returns how long each excess lasted while the operator answered as usual, in order. */
  private static List<Duration> play(String mode, TestCluster cluster) throws Exception {
    long seed = Long.getLong("sluice.seed", SEED);
    long first = Long.getLong("sluice.tenants.first", 0);
    int steps = Integer.getInteger("sluice.tenants.steps", STEPS);
    LOG.info("mode={} seed={} first={} steps={}", mode, seed, first, steps);
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
    RandomObjects objects = new RandomObjects();
    try (PlayedKinds kinds = PlayedKinds.play(cluster.client());
        LocalOperator operator =
            LocalOperator.start("random-tenants", cluster.kubeconfig(), configuration(mode));
        JobLoad honest = new JobLoad(cluster, Duration.ofMillis(300)).withRoomFor(2)) {
      assertThat(kinds.count()).isPositive();
      String namespace = namespace(cluster);
      Deque<String> told = new ConcurrentLinkedDeque<>();
      Set<JobKind> served = new LinkedHashSet<>(objects.kinds());
      try (NamespaceObjects known =
              new NamespaceObjects(cluster.client(), namespace, List.copyOf(served));
          RandomTenant tenant = new RandomTenant(cluster, namespace, seed, NAMES, objects, known);
          NamespaceJudge judge =
              new NamespaceJudge(
                  cluster.client(),
                  namespace,
                  CPUS,
                  InstantSource.system(),
                  excess -> tell(excess, mode.equals("Detect") ? BOUND : Duration.ZERO, told));
          AnswerTimes answers =
              new AnswerTimes(cluster.client(), honest.job("asked"), InstantSource.system())) {
        Instant begin = Instant.now();
        write(tenant, honest, first, steps, told);
        Duration took = Duration.between(begin, Instant.now());
        LOG.info(
            "mode={} steps={} seconds={} perSecond={} podsThatRan={} quotaUsed={}% slow={}s",
            mode,
            steps,
            took.toSeconds(),
            steps * 1000L / Math.max(1, took.toMillis()),
            judge.ran(),
            judge.usedPercent(),
            answers.slow().toSeconds());
        new TreeMap<>(tenant.answers()).forEach((what, times) -> LOG.info("{} {}", times, what));
        await("no more than the quota")
            .atMost(LIMIT)
            .untilAsserted(() -> assertThat(judge.present()).isEmpty());
        List<Duration> excesses = figures(mode, judge.excesses(), answers);
        int jobs = Math.max(1, steps / STEPS_PER_HONEST_JOB);
        await("honest Jobs complete").atMost(LIMIT).until(() -> honest.completed() == jobs);
        assertThat(operator.isAlive()).isTrue();
        assertThat(operator.isHealthy()).isTrue();
        return excesses;
      }
    }
  }

  private static String configuration(String mode) {
    return PlayedKinds.configuration()
        + """
        podAccounting: %s
        manageJobsWithoutQueueName: true
        resources: {injectedContainers: []}
        """
            .formatted(mode);
  }

  private static void write(
      RandomTenant tenant, JobLoad honest, long first, int steps, Deque<String> told)
      throws Exception {
    AtomicLong next = new AtomicLong(first);
    try (ExecutorService writers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> ends = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        ends.add(
            writers.submit(
                () -> {
                  for (long step = next.getAndIncrement();
                      step < first + steps;
                      step = next.getAndIncrement()) {
                    if ((step - first) % STEPS_PER_HONEST_JOB == 0) {
                      honest.submit("honest-" + step);
                    }
                    told.add(Instant.now() + " " + tenant.step(step));
                    while (told.size() > TOLD) {
                      told.poll();
                    }
                  }
                  return null;
                }));
      }
      for (Future<?> end : ends) {
        end.get();
      }
    }
  }

  /** What was done before a long excess is told with it. */
  private static void tell(Excess excess, Duration limit, Collection<String> told) {
    if (excess.lasted().compareTo(limit) > 0) {
      LOG.warn(
          "excess since={} lasted={}ms most={}m\n{}\nsteps:\n{}",
          excess.since(),
          excess.lasted().toMillis(),
          excess.most(),
          String.join("\n", excess.pods()),
          String.join("", told));
    }
  }

  private static List<Duration> figures(String mode, List<Excess> excesses, AnswerTimes answers) {
    List<Duration> all = excesses.stream().map(Excess::lasted).sorted().toList();
    List<Duration> usual =
        excesses.stream()
            .map(excess -> answers.usual(excess.since(), excess.until()))
            .sorted()
            .toList();
    for (List<Duration> times : List.of(all, usual)) {
      LOG.info(
          "mode={} {} excesses={} p50={}ms p90={}ms p99={}ms max={}ms",
          mode,
          times.equals(all) ? "by the clock" : "while answers came as usual",
          times.size(),
          at(times, 0.50).toMillis(),
          at(times, 0.90).toMillis(),
          at(times, 0.99).toMillis(),
          at(times, 1).toMillis());
    }
    return usual;
  }

  private static Duration at(List<Duration> sorted, double share) {
    return sorted.isEmpty()
        ? Duration.ZERO
        : sorted.get((int) Math.max(0, Math.ceil(share * sorted.size()) - 1));
  }

  private static String namespace(TestCluster cluster) {
    String namespace = cluster.createNamespace("tenant");
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: %1$s}
        spec:
          namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %1$s}}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "flavor-${suffix}"
              resources: [{name: cpu, nominalQuota: %2$d}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq, namespace: %1$s}
        spec: {clusterQueue: %1$s}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: other, namespace: %1$s}
        spec: {clusterQueue: %1$s}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: default, namespace: %1$s}
        spec: {clusterQueue: %1$s}
        """
            .formatted(namespace, CPUS));
    return namespace;
  }
}
