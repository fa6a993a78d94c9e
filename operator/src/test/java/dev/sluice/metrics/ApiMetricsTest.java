package dev.sluice.metrics;

import static dev.sluice.metrics.Workloads.CREATED;
import static dev.sluice.metrics.Workloads.admittedBy;
import static dev.sluice.metrics.Workloads.inCluster;
import static dev.sluice.metrics.Workloads.is;
import static dev.sluice.metrics.Workloads.pending;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.Configuration.CustomLabel;
import dev.sluice.api.config.Configuration.SourceKind;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.PendingTotals;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.WorkloadMetrics.QueueRef;
import dev.sluice.workload.record.CachedWorkload;
import io.prometheus.metrics.core.metrics.Histogram;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.DoubleUnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The page of metrics and what is served beside the list of the API's metrics: names, types,
 * labels, labels of one's own and the bounds of histograms.
 */
class ApiMetricsTest {

  /** What is served by names of the API that the API doesn't have, see the page of metrics. */
  private static final Set<String> OWN =
      Set.of("kueue_admission_duration_seconds", "kueue_cluster_queue_usage");

  private static final LocalQueueId LOCAL = new LocalQueueId("team", "lq");
  private static final FlavorUsage CPU = new FlavorUsage("spot", "cpu", 1500, 500, 500, 2500, 500);
  private static final Pattern BOUND = Pattern.compile("\\ble=\"([^\"]+)\"");
  private static final Map<String, SourceKind> SOURCES =
      Map.of(
          "CQ", SourceKind.CLUSTER_QUEUE,
          "Co", SourceKind.COHORT,
          "LQ", SourceKind.LOCAL_QUEUE,
          "WL", SourceKind.WORKLOAD);

  private final MetricsScrape scrape = new MetricsScrape();
  private final CustomLabels labels =
      new CustomLabels(
          SOURCES.values().stream()
              .map(kind -> new CustomLabel(name(kind), kind, "key", false, List.of()))
              .toList(),
          new NoObjects());

  /** A metric of the list. */
  private record Metric(
      String name, String type, List<String> labels, List<String> sources, String bounds) {

    static Metric parse(String line) {
      String[] words = line.split(" ", -1);
      return new Metric(words[0], words[1], split(words[2]), split(words[3]), words[4]);
    }

    private static List<String> split(String words) {
      return words.equals("-") ? List.of() : List.of(words.split(",", -1));
    }

    /** Its row of the page, up to the meaning, with these labels after its own. */
    String row(List<String> further) {
      List<String> all = new ArrayList<>(labels);
      all.addAll(further);
      String names = all.stream().map(label -> "`" + label + "`").collect(Collectors.joining(", "));
      return "| `%s` | %s | %s |".formatted(name, type, names);
    }
  }

  private static final class NoObjects implements CustomLabels.Sources {
    @Override
    public Optional<CustomLabels.Metadata> clusterQueue(String name) {
      return Optional.empty();
    }

    @Override
    public Optional<CustomLabels.Metadata> cohort(String name) {
      return Optional.empty();
    }

    @Override
    public Optional<CustomLabels.Metadata> localQueue(LocalQueueId id) {
      return Optional.empty();
    }
  }

  private static final class NothingPending implements PendingGauges.PendingWorkloads {
    @Override
    public CompletableFuture<Optional<List<PendingPosition>>> in(String clusterQueue) {
      return CompletableFuture.completedFuture(Optional.of(List.of()));
    }

    @Override
    public Optional<CachedWorkload> find(WorkloadId id) {
      return Optional.empty();
    }
  }

  @AfterEach
  void close() {
    scrape.close();
  }

  private static String name(SourceKind kind) {
    return "of_" + kind.name().toLowerCase(Locale.ROOT);
  }

  private static List<Metric> list() throws IOException {
    try (InputStream in =
        Objects.requireNonNull(ApiMetricsTest.class.getResourceAsStream("api-metrics.txt"))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .map(Metric::parse)
          .toList();
    }
  }

  @Test
  void thePageHasEveryMetricOfTheApi() throws IOException {
    List<String> page = Files.readAllLines(Path.of("docs/metrics.md"));
    assertThat(list())
        .hasSize(68)
        .allSatisfy(
            metric ->
                assertThat(page).anyMatch(line -> line.startsWith(metric.row(List.of()) + " ")));
  }

  @Test
  void everyMetricOfTheApiIsServedWithItsLabelsAndBounds() throws IOException {
    measureEverything();
    String served = new String(scrape.scrape().body(), StandardCharsets.UTF_8);
    StringBuilder page = new StringBuilder();
    for (Metric metric : list()) {
      List<String> further =
          metric.sources().stream()
              .map(source -> "custom_" + name(Objects.requireNonNull(SOURCES.get(source))))
              .toList();
      page.append(metric.row(further)).append(" meaning |\n");
    }
    MetricsPage expected = MetricsPage.of(page.toString());

    assertThat(expected.differences(served, "kueue_", Set.of()))
        .containsExactlyInAnyOrderElementsOf(
            OWN.stream().map(name -> name + ": served, not documented").toList());
    assertThat(expected.differences(served, "multikueue_workloads_dispatched", Set.of())).isEmpty();
    assertThat(expected.differences(served, "multikueue_workloads_admitted", Set.of())).isEmpty();
    assertThat(expected.differences(served, "multikueue_workloads_evicted", Set.of())).isEmpty();
    assertThat(expected.differences(served, "multikueue_cluster_status", Set.of())).isEmpty();
    assertThat(list())
        .allSatisfy(
            metric ->
                assertThat(bounds(served, metric.name()))
                    .as(metric.name())
                    .isEqualTo(bounds(metric.bounds())));
  }

  private static Set<String> bounds(String served, String name) {
    return served
        .lines()
        .filter(line -> line.startsWith(name + "_bucket{"))
        .flatMap(line -> BOUND.matcher(line).results().map((MatchResult it) -> it.group(1)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> bounds(String kind) {
    Set<String> bounds =
        switch (kind) {
          case "E14" -> series(14, i -> i == 0 ? 1 : 2.5 * Math.pow(2, i - 1));
          case "E16" -> series(16, i -> i == 0 ? 1 : 2.5 * Math.pow(2, i - 1));
          case "doubling" -> series(11, i -> 0.01 * Math.pow(2, i));
          case "default" ->
              Arrays.stream(Histogram.Builder.DEFAULT_CLASSIC_UPPER_BOUNDS)
                  .mapToObj(Double::toString)
                  .collect(Collectors.toCollection(TreeSet::new));
          default -> new TreeSet<>();
        };
    if (!bounds.isEmpty()) {
      bounds.add("+Inf");
    }
    return bounds;
  }

  private static Set<String> series(int count, DoubleUnaryOperator bound) {
    return IntStream.range(0, count)
        .mapToObj(i -> Double.toString(bound.applyAsDouble(i)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Everything happens once. */
  private void measureEverything() {
    FixedViews views =
        new FixedViews()
            .clusterQueue("cq", "org", List.of(), CPU)
            .localQueue("team", "lq", "cq", CPU)
            .pastUse("team", "lq", 1)
            .cohort("org", "", CPU)
            .sharing();
    WorkloadCounter counter = new WorkloadCounter(labels, false);
    counter.changed(null, pending());
    scrape.include(
        new QueueGauges(
            views,
            counter,
            () -> ReplicaRole.LEADER,
            id -> true,
            new QueueGauges.Options(true, true, labels)));
    scrape.include(
        new PendingGauges(
            views,
            () ->
                CompletableFuture.completedFuture(
                    Map.of(
                        "cq",
                        new PendingTotals(
                            1, 0, new TreeMap<>(Map.of("cpu", 1L)), Optional.of(CREATED)))),
            () -> ReplicaRole.LEADER,
            () -> CREATED,
            new PendingGauges.Options(true, true),
            labels,
            new NothingPending()));
    SchedulerMetrics scheduler =
        new SchedulerMetrics(
            scrape.registry(),
            () -> ReplicaRole.LEADER,
            true,
            new BuildInfo("v1", "abc", "2030-01-01", "java25", "HotSpot", "linux/amd64"),
            labels);
    scheduler.cycleEnded(true, Duration.ZERO);
    scheduler.workloadCreated("Job", LOCAL, Duration.ZERO);
    MultiKueueMetrics remote =
        new MultiKueueMetrics(
            scrape.registry(),
            () -> ReplicaRole.LEADER,
            Map::of,
            () -> Map.of("cq", List.of("worker")));
    remote.dispatched("cq", "worker");
    remote.changed(
        inCluster("worker", admittedBy("cq")),
        admittedBy("cq", is("Evicted", "Preempted", CREATED)));
    remote.admitted("cq", "worker", Duration.ZERO);
    new PodGateMetrics(scrape.registry(), views, () -> ReplicaRole.LEADER, () -> CREATED, labels)
        .removed(admittedBy("cq", is("Admitted", "Admitted", CREATED)), "gate");
    workloads(
        new WorkloadMetrics(
            scrape.registry(), views, () -> ReplicaRole.LEADER, id -> true, labels));
  }

  private static void workloads(WorkloadMetrics metrics) {
    QueueRef queue = new QueueRef("cq", LOCAL, "urgent", List.of("big"));
    metrics.quotaReserved(queue, Duration.ZERO);
    metrics.admitted(queue, Duration.ZERO, Duration.ZERO);
    metrics.podsReady(queue, Duration.ZERO, Duration.ZERO);
    metrics.podsRecovered(queue, Duration.ZERO);
    metrics.finished(queue, Optional.of(Duration.ZERO));
    metrics.evicted(queue, "Preempted", "", true);
    metrics.evictedAfterReady(queue, "Preempted", "", Duration.ZERO);
    metrics.quotaReleased(queue, "Preempted", Duration.ZERO);
    metrics.preempted("cq", "InClusterQueue");
    metrics.sliceReplaced(queue);
    metrics.recomputed(
        new CycleStatistics.Recomputation("cq", CycleStatistics.Result.DEFERRED_FIT));
  }
}
