package dev.sluice.dashboard;

import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.topology.TopologyView;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.WorkloadLister;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * A cluster of two teams and one cohort of cohorts, with any number of Workloads. Every third of
 * them is pending, in the order of their numbers.
 */
final class PlayedScheduler implements SchedulerViews, SchedulerQueries, WorkloadLister {

  static final List<String> NAMESPACES = List.of("team-a", "team-b");
  private static final List<String> QUEUES =
      List.of("vision-train", "vision-eval", "language", "ci");
  private static final List<String> JOBS =
      List.of("train", "evaluate", "embed", "distill", "render");
  private static final long GIB = 1L << 30;

  private final Instant now;
  private int racks;
  private final Map<String, CachedWorkload> workloads = new ConcurrentSkipListMap<>();

  /** As many Workloads, the newest created now. */
  PlayedScheduler(int count, Instant now) {
    this.now = now;
    this.racks = count >= 10_000 ? 6 : 2;
    for (int number = 0; number < count; number++) {
      put(workload(number));
    }
  }

  /** A rack more in each block. */
  void addRack() {
    racks++;
  }

  /** A further Workload, pending, that is created now. */
  void add(String namespace, String name) {
    put(workload(namespace, name, "vision-train", now, 100, State.PENDING));
  }

  /** A further Workload, pending before all others. */
  void addFirst(String namespace, String name) {
    put(workload(namespace, name, "vision-train", Instant.EPOCH, 100, State.PENDING));
  }

  /** A further Workload, whose LocalQueue doesn't exist. */
  void addMisconfigured(String namespace, String name) {
    put(workload(namespace, name, "none", now, 100, State.MISCONFIGURED));
  }

  /** A Workload is created that budget {@code team-vision} holds. */
  void addHeld(String namespace, String name) {
    put(workload(namespace, name, QUEUES.getFirst(), now, 0, State.HELD));
  }

  private void put(CachedWorkload workload) {
    workloads.put(workload.id().namespace() + "/" + workload.id().name(), workload);
  }

  private enum State {
    PENDING,
    ADMITTED,
    FINISHED,
    MISCONFIGURED,
    HELD
  }

  private CachedWorkload workload(int number) {
    return workload(
        NAMESPACES.get(number % 2),
        "job-" + JOBS.get(number % 5) + "-" + String.format("%05d", number),
        QUEUES.get(number % 4),
        now.minusSeconds(37L * number + 45),
        number % 7 * 10,
        State.values()[number % State.MISCONFIGURED.ordinal()]);
  }

  private static CachedWorkload workload(
      String namespace, String name, String queue, Instant created, int priority, State state) {
    String message =
        "pod set main: flavor a100: nvidia.com/gpu: 8 requested, 2 available of 32, 6 missing";
    List<Condition> conditions =
        switch (state) {
          case PENDING ->
              List.of(
                  condition("QuotaReserved", "False", "WaitingForQuota", message, created, 2),
                  condition(
                      "PodsReady", "False", "WaitForStart", "Not all pods are ready", created, 2));
          case MISCONFIGURED ->
              List.of(
                  condition(
                      "QuotaReserved",
                      "False",
                      "Misconfigured",
                      "LocalQueue " + queue + " doesn't exist",
                      created,
                      2));
          case HELD ->
              List.of(
                  condition(
                      "QuotaReserved",
                      "False",
                      "WaitingForQuota",
                      "BudgetExhausted: Budget team-vision has 2000 spent and 250 reserved of 2500"
                          + " of money, and this workload needs 300; the next period begins at"
                          + " 2026-11-29T23:00:00Z",
                      created,
                      2));
          case ADMITTED ->
              List.of(
                  condition(
                      "QuotaReserved",
                      "True",
                      "QuotaReserved",
                      "Quota reserved in ClusterQueue " + queue,
                      created,
                      9),
                  condition("Admitted", "True", "Admitted", "The workload is admitted", created, 9),
                  condition(
                      "PodsReady", "True", "Started", "All pods reached readiness", created, 31));
          case FINISHED ->
              List.of(
                  condition("QuotaReserved", "True", "QuotaReserved", "", created, 9),
                  condition("Admitted", "True", "Admitted", "The workload is admitted", created, 9),
                  condition(
                      "Finished", "True", "Succeeded", "Job finished successfully", created, 35));
        };
    return new CachedWorkload(
        new WorkloadId("uid-" + name, namespace, name),
        1,
        1,
        created,
        false,
        List.of(),
        true,
        Optional.of(
            new CachedWorkload.Owner("batch/v1", "Job", name.replaceFirst("^job-", ""), "u")),
        Map.of(),
        Map.of(),
        new CachedWorkload.Spec(queue, List.of(), priority, Optional.empty(), true, 0),
        new CachedWorkload.Status(
            conditions,
            state == State.PENDING || state == State.MISCONFIGURED
                ? Optional.empty()
                : Optional.of(
                    new CachedWorkload.Admission(
                        queue,
                        List.of(
                            new CachedWorkload.Assignment(
                                "main",
                                Map.of("nvidia.com/gpu", "a100"),
                                Map.of("nvidia.com/gpu", "8"),
                                1)))),
            List.of(),
            Map.of(),
            Optional.empty(),
            CachedWorkload.History.NONE,
            false));
  }

  private static Condition condition(
      String type, String status, String reason, String message, Instant created, int after) {
    return new Condition(type, status, reason, message, created.plusSeconds(after), 1);
  }

  private static FlavorUsage usage(String flavor, String resource, long nominal, long used) {
    return new FlavorUsage(
        flavor,
        resource,
        nominal,
        ResourceAmounts.UNLIMITED,
        ResourceAmounts.UNLIMITED,
        used,
        used);
  }

  private List<CachedWorkload> pending(String queue) {
    return workloads.values().stream()
        .filter(workload -> workload.spec().queueName().equals(queue))
        .filter(workload -> !workload.quotaReserved())
        .sorted(Comparator.comparing(CachedWorkload::createdAt))
        .toList();
  }

  private int admitted(String queue, String namespace) {
    return (int)
        workloads.values().stream()
            .filter(workload -> workload.spec().queueName().equals(queue))
            .filter(workload -> namespace.isEmpty() || workload.id().namespace().equals(namespace))
            .filter(workload -> workload.admitted() && !workload.finished())
            .count();
  }

  private ClusterQueueView queue(String name, String cohort, FlavorUsage... usage) {
    int pending = pending(name).size();
    int admitted = admitted(name, "");
    return new ClusterQueueView(
        name,
        cohort,
        cohort.isEmpty() ? "" : "research",
        List.of(),
        Math.min(1, pending),
        Math.max(0, pending - 1),
        admitted,
        admitted,
        List.of(usage));
  }

  /** A queue as it was once, with a tenth more or less in use for each step of the wave. */
  ClusterQueueView earlier(ClusterQueueView queue, int wave) {
    return new ClusterQueueView(
        queue.name(),
        queue.cohort(),
        queue.rootCohort(),
        queue.problems(),
        5 + wave,
        0,
        queue.reserving(),
        queue.admitted(),
        queue.dominantResourceShare(),
        queue.usage().stream()
            .map(
                pair ->
                    usage(
                        pair.flavor(),
                        pair.resource(),
                        pair.nominal(),
                        pair.reserved() / 10 * (9 + wave / 2)))
            .toList());
  }

  @Override
  public Collection<ClusterQueueView> clusterQueues() {
    return List.of(
        queue(
            "vision-train",
            "vision",
            usage("a100", "nvidia.com/gpu", 32, 46),
            usage("standard", "cpu", 512_000, 388_000),
            usage("standard", "memory", 2048 * GIB, 1310 * GIB)),
        queue(
            "vision-eval",
            "vision",
            usage("a100", "nvidia.com/gpu", 16, 2),
            usage("standard", "cpu", 128_000, 31_500),
            usage("standard", "memory", 512 * GIB, 96 * GIB)),
        queue(
            "language",
            "research",
            usage("h100", "nvidia.com/gpu", 64, 64),
            usage("standard", "cpu", 768_000, 801_000),
            usage("standard", "memory", 4096 * GIB, 3300 * GIB)),
        queue(
            "ci",
            "",
            usage("spot", "cpu", 200_000, 12_000),
            usage("spot", "memory", 400 * GIB, 24 * GIB)));
  }

  @Override
  public Collection<CohortView> cohorts() {
    return List.of(
        new CohortView(
            "research",
            "",
            "research",
            List.of(
                usage("a100", "nvidia.com/gpu", 48, 48),
                usage("h100", "nvidia.com/gpu", 64, 64),
                usage("standard", "cpu", 1_408_000, 1_220_500))),
        new CohortView(
            "vision",
            "research",
            "research",
            List.of(
                usage("a100", "nvidia.com/gpu", 48, 48),
                usage("standard", "cpu", 640_000, 419_500))));
  }

  @Override
  public Collection<LocalQueueView> localQueues() {
    List<LocalQueueView> queues = new ArrayList<>();
    for (String namespace : NAMESPACES) {
      for (String name : QUEUES) {
        int pending =
            (int)
                pending(name).stream()
                    .filter(workload -> workload.id().namespace().equals(namespace))
                    .count();
        queues.add(
            new LocalQueueView(
                new LocalQueueId(namespace, name),
                name,
                List.of(),
                0,
                pending,
                admitted(name, namespace),
                admitted(name, namespace),
                List.of(usage("a100", "nvidia.com/gpu", 32, 14))));
      }
    }
    return queues;
  }

  @Override
  public Optional<ClusterQueueView> clusterQueue(String name) {
    return clusterQueues().stream().filter(queue -> queue.name().equals(name)).findFirst();
  }

  @Override
  public Optional<LocalQueueView> localQueue(LocalQueueId id) {
    return QUEUES.contains(id.name()) && NAMESPACES.contains(id.namespace())
        ? Optional.of(new LocalQueueView(id, id.name(), List.of(), 0, 0, 0, 0, List.of()))
        : Optional.empty();
  }

  @Override
  public Optional<CohortView> cohort(String name) {
    return cohorts().stream().filter(cohort -> cohort.name().equals(name)).findFirst();
  }

  private CompletableFuture<Optional<List<PendingPosition>>> page(
      List<CachedWorkload> all, int offset, int limit) {
    List<PendingPosition> positions = new ArrayList<>();
    for (int i = offset; i < Math.min(all.size(), (long) offset + limit); i++) {
      CachedWorkload each = all.get(i);
      positions.add(
          new PendingPosition(
              each.id(),
              each.spec().queueName(),
              each.spec().priority(),
              each.createdAt(),
              i,
              i,
              i > 0));
    }
    return CompletableFuture.completedFuture(Optional.of(positions));
  }

  @Override
  public CompletableFuture<Optional<List<PendingPosition>>> pendingInClusterQueue(
      String clusterQueue, int offset, int limit) {
    return clusterQueue(clusterQueue).isPresent()
        ? page(pending(clusterQueue), offset, limit)
        : CompletableFuture.completedFuture(Optional.empty());
  }

  @Override
  public CompletableFuture<Optional<List<PendingPosition>>> pendingInLocalQueue(
      LocalQueueId queue, int offset, int limit) {
    return page(
        pending(queue.name()).stream()
            .filter(workload -> workload.id().namespace().equals(queue.namespace()))
            .toList(),
        offset,
        limit);
  }

  /** Every pending Workload starts an hour after the one before; the last one never does. */
  Map<WorkloadId, StartEstimate> starts(String clusterQueue) {
    Map<WorkloadId, StartEstimate> starts = new HashMap<>();
    List<CachedWorkload> waiting = pending(clusterQueue);
    for (int i = 0; i < waiting.size(); i++) {
      Instant at = now.plusSeconds(3_600L * (i + 1));
      boolean last = i == waiting.size() - 1;
      starts.put(
          waiting.get(i).id(),
          new StartEstimate(
              last ? StartEstimate.Basis.NEVER : StartEstimate.Basis.LEARNED,
              last
                  ? Optional.empty()
                  : Optional.of(
                      new StartEstimate.StartRange(
                          at.minusSeconds(600), at, Optional.of(at.plusSeconds(600)))),
              now,
              List.of(
                  last
                      ? "it doesn't start when everything that runs has ended"
                      : "no job arrives before it starts")));
    }
    return starts;
  }

  @Override
  public CompletableFuture<Optional<PendingReport>> pendingReason(WorkloadId id) {
    CachedWorkload workload = workloads.get(id.namespace() + "/" + id.name());
    if (workload == null || workload.quotaReserved()) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    FlavorResource gpus = new FlavorResource("a100", "nvidia.com/gpu");
    return CompletableFuture.completedFuture(
        Optional.of(
            new PendingReport(
                new PendingPosition(id, workload.spec().queueName(), 10, now, 3, 1, true),
                workload.spec().queueName(),
                Optional.of(
                    new Explanation(
                        PendingReason.WAITING_FOR_QUOTA,
                        List.of(
                            new FlavorAttempt(
                                "main",
                                "a100",
                                0,
                                List.of(
                                    new FlavorRejection.InsufficientQuota(
                                        "nvidia.com/gpu", 8, 2, 32)))),
                        "")),
                List.of(
                    new Holder(
                        new WorkloadId("1", "team-a", "job-train-00010"), "vision-train", gpus, 8),
                    new Holder(
                        new WorkloadId("2", "team-b", "job-evaluate-00001"),
                        "vision-train",
                        gpus,
                        4)),
                Optional.empty(),
                backfill(id, workload.spec().queueName()))));
  }

  /** The first two have planned starts, of which the second is late. */
  private List<PlannedStart> planned(String clusterQueue) {
    List<CachedWorkload> waiting =
        clusterQueue.equals("vision-train") ? pending(clusterQueue) : List.of();
    List<PlannedStart> planned = new ArrayList<>();
    for (int i = 0; i < Math.min(2, waiting.size()); i++) {
      Instant promised = now.plusSeconds(3_600L * (i + 2));
      planned.add(
          new PlannedStart(
              waiting.get(i).id(),
              promised.plusSeconds(60L * i),
              promised,
              i == 0 ? List.of() : List.of(PlannedStart.LateCause.RUN_BEYOND_BOUND)));
    }
    return planned;
  }

  @Override
  public CompletableFuture<List<PlannedStart>> plannedStarts(String clusterQueue) {
    return CompletableFuture.completedFuture(planned(clusterQueue));
  }

  private Optional<BackfillReport> backfill(WorkloadId id, String clusterQueue) {
    List<PlannedStart> planned = planned(clusterQueue);
    return planned.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new BackfillReport(
                planned.stream().filter(each -> each.id().equals(id)).findFirst(),
                Optional.of(planned.getFirst()).filter(first -> !first.id().equals(id)),
                Optional.of(Duration.ofHours(1)),
                true));
  }

  @Override
  public CompletableFuture<Optional<TopologyView>> topology(String flavor) {
    return CompletableFuture.completedFuture(
        flavor.equals(PlayedTopology.FLAVOR)
            ? Optional.of(PlayedTopology.view(racks))
            : Optional.empty());
  }

  @Override
  public CompletableFuture<List<PendingExplanation>> unreportedExplanations(int max) {
    return CompletableFuture.completedFuture(List.of());
  }

  @Override
  public Optional<CachedWorkload> get(String namespace, String name) {
    return Optional.ofNullable(workloads.get(namespace + "/" + name));
  }

  @Override
  public Collection<CachedWorkload> ownedBy(String ownerUid) {
    return List.of();
  }

  @Override
  public Collection<CachedWorkload> inQueue(String namespace, String queueName) {
    return List.of();
  }

  @Override
  public Collection<CachedWorkload> reservingIn(String clusterQueue) {
    return List.of();
  }

  @Override
  public Iterable<CachedWorkload> all() {
    return workloads.values();
  }

  @Override
  public int size() {
    return workloads.size();
  }
}
