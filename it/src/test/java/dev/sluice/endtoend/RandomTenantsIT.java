package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.endtoend.TenantJudge.Excess;
import dev.sluice.endtoend.TenantJudge.Series;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.PlayedKinds;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A tenant does anything at random that RBAC allows, in a namespace in which everything has to be
 * queued, beside a team whose Jobs have to finish. Judged is what ran on nodes. {@code
 * -Dsluice.tenants.steps=N} plays so many steps, {@code -Dsluice.seed=N} others, and {@code
 * -Dsluice.tenants.first=N} begins at the step of this number.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
@Order(3)
@Tag(BuildBreadth.NIGHTLY)
class RandomTenantsIT {

  private static final Logger LOG = LoggerFactory.getLogger(RandomTenantsIT.class);
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final long SEED = 20_26;
  private static final int STEPS = 150;
  private static final int WRITERS = 8;
  private static final int CPUS = 6;
  private static final int NAMES = 3;

  /** One honest Job for so many steps. */
  private static final int STEPS_PER_HONEST_JOB = 100;

  /** At least one pod runs in so many steps. */
  private static final int STEPS_PER_POD = 50;

  /** So many steps are remembered, to be told with an excess. */
  private static final int TOLD = 1_000;

  /** What docs/pod-accounting.md tells of 99 of 100 excesses. */
  private static final Duration BOUND = Duration.ofSeconds(2);

  /** How much later than pods the judge may learn of their Workload. */
  private static final Duration SKEW = Duration.ofSeconds(1);

  /** Nothing is left alone for longer, whatever the machine does. */
  private static final Duration MOST = Duration.ofSeconds(30);

  /**
   * How long each excess lasted, in order.
   *
   * @param byTheClock altogether
   * @param usual while API server and operator answered as usual
   */
  private record Figures(List<Duration> byTheClock, List<Duration> usual) {}

  @Test
  void nobodyRunsMoreForLongerThanDetectionTakes(TestCluster cluster) throws Exception {
    int steps = Integer.getInteger("sluice.tenants.steps", STEPS);
    Map<Series, Figures> figures = play("Detect", steps, BOUND, cluster);
    assertThat(at(of(figures, Series.CHARGE).usual(), 0.99)).isLessThanOrEqualTo(BOUND);
    assertThat(at(of(figures, Series.CHARGE).byTheClock(), 1)).isLessThanOrEqualTo(MOST);
    assertThat(at(of(figures, Series.UNEXPLAINED).usual(), 1)).isLessThanOrEqualTo(SKEW);
  }

  @Test
  void nobodyEverRunsMoreWherePodsAreReviewed(TestCluster cluster) throws Exception {
    int all = Integer.getInteger("sluice.tenants.steps", STEPS);
    int steps = Math.max(Math.min(all, STEPS), all / 10);
    Map<Series, Figures> figures = play("Prevent", steps, Duration.ZERO, cluster);
    assertThat(of(figures, Series.QUOTA).byTheClock()).isEmpty();
    assertThat(at(of(figures, Series.CHARGE).usual(), 1)).isLessThanOrEqualTo(SKEW);
  }

  private static Figures of(Map<Series, Figures> figures, Series series) {
    return figures.getOrDefault(series, new Figures(List.of(), List.of()));
  }

  private static Map<Series, Figures> play(
      String mode, int steps, Duration told, TestCluster cluster) throws Exception {
    long seed = Long.getLong("sluice.seed", SEED);
    long first = Long.getLong("sluice.tenants.first", 0);
    LOG.info("mode={} seed={} first={} steps={}", mode, seed, first, steps);
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
    RandomObjects objects = new RandomObjects();
    Deque<String> done = new ConcurrentLinkedDeque<>();
    try (PlayedKinds kinds = PlayedKinds.play(cluster.client());
        LocalOperator operator =
            LocalOperator.start("random-tenants", cluster.kubeconfig(), configuration(mode));
        JobLoad honest = new JobLoad(cluster, Duration.ofMillis(300)).withRoomFor(2)) {
      assertThat(kinds.count()).isPositive();
      String namespace = namespace(cluster);
      Set<JobKind> watched = new LinkedHashSet<>(objects.kinds());
      watched.add(JobKind.of("kueue.x-k8s.io", "v1beta2", "Workload"));
      try (TenantJudge judge =
              new TenantJudge(
                  cluster.client(),
                  namespace,
                  CPUS,
                  InstantSource.system(),
                  excess -> tell(excess, told, done));
          NamespaceObjects known =
              new NamespaceObjects(
                  cluster.client(), namespace, List.copyOf(watched), judge::object);
          RandomTenant tenant = new RandomTenant(cluster, namespace, seed, NAMES, objects, known);
          AnswerTimes answers =
              new AnswerTimes(cluster.client(), honest.job("asked"), InstantSource.system())) {
        Instant begin = Instant.now();
        write(tenant, honest, first, steps, done);
        Duration took = Duration.between(begin, Instant.now());
        await("no more than what is charged")
            .atMost(LIMIT)
            .untilAsserted(() -> assertThat(judge.present()).isEmpty());
        new TreeMap<>(tenant.answers()).forEach((what, times) -> LOG.info("{} {}", times, what));
        LOG.info(
            "mode={} seed={} steps={} seconds={} perSecond={} pods={} quotaUsed={}% slow={}s",
            mode,
            seed,
            steps,
            took.toSeconds(),
            steps * 1000L / Math.max(1, took.toMillis()),
            judge.ran(),
            judge.usedPercent(),
            answers.slow().toSeconds());
        Map<Series, Figures> figures = figures(mode, judge, answers);
        assertThat(judge.ran()).isGreaterThan(steps / STEPS_PER_POD);
        int jobs = (steps + STEPS_PER_HONEST_JOB - 1) / STEPS_PER_HONEST_JOB;
        await("honest Jobs complete").atMost(LIMIT).until(() -> honest.completed() == jobs);
        assertThat(operator.isAlive()).isTrue();
        assertThat(operator.isHealthy()).isTrue();
        return figures;
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
  private static void tell(Excess excess, Duration limit, Collection<String> done) {
    Duration skew = excess.series() == Series.QUOTA ? Duration.ZERO : SKEW;
    if (excess.lasted().compareTo(limit) > 0 && excess.lasted().compareTo(skew) > 0) {
      LOG.warn(
          "excess of={} since={} lasted={}ms cpu={}m\n{}\nsteps:\n{}",
          excess.series(),
          excess.since(),
          excess.lasted().toMillis(),
          excess.cpu(),
          String.join("\n", excess.pods()),
          about(excess, done));
    }
  }

  /** The steps that name a job of which pods ran. */
  private static String about(Excess excess, Collection<String> told) {
    Set<String> jobs =
        excess.pods().stream()
            .map(pod -> pod.replaceFirst("^([a-z]+-[0-9]).*", "$1"))
            .collect(Collectors.toSet());
    return told.stream()
        .filter(
            step ->
                jobs.stream()
                    .anyMatch(
                        job ->
                            step.contains("/" + job) || step.contains("\"name\":\"" + job + '"')))
        .collect(Collectors.joining());
  }

  private static Map<Series, Figures> figures(String mode, TenantJudge judge, AnswerTimes answers) {
    Map<Series, Figures> figures = new EnumMap<>(Series.class);
    for (Series series : Series.values()) {
      List<Excess> past = judge.past(series);
      Figures times =
          new Figures(
              past.stream().map(Excess::lasted).sorted().toList(),
              past.stream()
                  .map(excess -> answers.usual(excess.since(), excess.until()))
                  .sorted()
                  .toList());
      figures.put(series, times);
      LOG.info(
          "mode={} excesses of={} number={} byTheClock=[{}] usual=[{}]",
          mode,
          series,
          past.size(),
          text(times.byTheClock()),
          text(times.usual()));
    }
    return figures;
  }

  private static String text(List<Duration> times) {
    return "p50=%dms p90=%dms p99=%dms max=%dms"
        .formatted(
            at(times, 0.50).toMillis(),
            at(times, 0.90).toMillis(),
            at(times, 0.99).toMillis(),
            at(times, 1).toMillis());
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
