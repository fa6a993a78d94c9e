package dev.sluice.dashboard;

import dev.sluice.api.config.Configuration.BindAddress;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.QuotaSchedule;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.ResourceFlavor.ResourceFlavorSpec;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.dashboard.DashboardSources.WorkerCluster;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.server.http.HttpService;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** A dashboard of a played cluster, with played users, on a port of the loopback address. */
final class PlayedDashboard implements AutoCloseable {

  private final PlayedUsers users = new PlayedUsers();
  private final ChangeFeed feed = new ChangeFeed();
  private final PlayedObjects objects = new PlayedObjects();
  private final PlayedScheduler scheduler;
  private final DashboardEndpoint endpoint;
  private final HttpService service;

  /** One with as many Workloads. */
  PlayedDashboard(int workloads) throws IOException {
    scheduler = new PlayedScheduler(workloads, Instant.now());
    endpoint =
        new DashboardEndpoint(
            users.users(),
            users.access(),
            new DashboardSources(
                scheduler,
                caches(),
                scheduler,
                scheduler,
                expected(scheduler, caches()),
                () ->
                    List.of(
                        new WorkerCluster("east", true, "Active", "Connected"),
                        new WorkerCluster("west", false, "ClientConnectionFailed", "no answer")),
                () -> true,
                InstantSource.system()),
            feed,
            past(scheduler),
            objects::read);
    service = HttpService.plain(new BindAddress("127.0.0.1", 0), endpoint, Duration.ofSeconds(1));
  }

  private static DashboardSources.Expected expected(
      PlayedScheduler scheduler, InformerCaches caches) {
    return new DashboardSources.Expected() {
      @Override
      public Map<WorkloadId, StartEstimate> starts(String clusterQueue, Duration patience) {
        return scheduler.starts(clusterQueue);
      }

      @Override
      public SortedMap<String, List<QuotaSchedule.Interval>> factors() {
        SortedMap<String, List<QuotaSchedule.Interval>> factors = new TreeMap<>();
        caches
            .clusterQueues()
            .all()
            .forEach(
                queue ->
                    QuotaSchedule.of(queue.getMetadata().getAnnotations())
                        .ifPresent(
                            schedule ->
                                factors.put(
                                    queue.getMetadata().getName(),
                                    schedule.upcoming(Instant.now()))));
        return factors;
      }
    };
  }

  /** Six hours in which the queues were fuller now and then than they are. */
  private static PastUse past(PlayedScheduler scheduler) {
    PastUse history = new PastUse();
    Instant now = Instant.now();
    for (int i = PastUse.SAMPLES; i > 0; i--) {
      int wave = (int) Math.round(4 * Math.sin(i / 12.0));
      history.sample(
          now.minus(PastUse.INTERVAL.multipliedBy(i)),
          scheduler.clusterQueues().stream().map(queue -> scheduler.earlier(queue, wave)).toList());
    }
    return history;
  }

  /** A flavor with a topology, and one without. */
  private static InformerCaches caches() throws IOException {
    InformerCaches caches = InformerCaches.empty(BuiltInCheckControllers.all());
    Map.of(PlayedTopology.FLAVOR, PlayedTopology.TOPOLOGY, "spot", "")
        .forEach(
            (name, topology) -> {
              ResourceFlavor flavor = new ResourceFlavor();
              flavor.setMetadata(new ObjectMetaBuilder().withName(name).build());
              flavor.setSpec(
                  new ResourceFlavorSpec(
                      Map.of("pool", name),
                      topology.isEmpty()
                          ? List.of(new Taint("NoSchedule", "spot", null, "true"))
                          : List.of(),
                      List.of(),
                      topology.isEmpty() ? null : topology));
              caches.flavors().put(name, flavor);
            });
    caches
        .clusterQueues()
        .put(
            "vision-train",
            JsonMappers.YAML.readValue(
                """
                metadata:
                  name: vision-train
                  annotations:
                    sluice.dev/quota-schedule: Mon-Sun 0.5
                    sluice.dev/backfill: Depth(2)
                spec:
                  queueingStrategy: StrictFIFO
                  preemption: {reclaimWithinCohort: Any, withinClusterQueue: LowerPriority}
                  resourceGroups:
                  - coveredResources: [cpu]
                    flavors: [{name: a100, resources: [{name: cpu, nominalQuota: 8}]}]
                """,
                ClusterQueue.class));
    return caches;
  }

  DashboardEndpoint endpoint() {
    return endpoint;
  }

  PlayedObjects objects() {
    return objects;
  }

  PlayedUsers users() {
    return users;
  }

  String address() {
    return "http://127.0.0.1:" + service.port() + "/";
  }

  /** A Workload is created. */
  void add(String namespace, String name) {
    scheduler.add(namespace, name);
    feed.changed(null, scheduler.get(namespace, name).orElseThrow());
    feed.changed(
        Set.of("vision-train"), Set.of(new LocalQueueId(namespace, "vision-train")), Set.of());
  }

  /** A Workload is created whose LocalQueue doesn't exist. */
  void addMisconfigured(String namespace, String name) {
    scheduler.addMisconfigured(namespace, name);
    feed.changed(null, scheduler.get(namespace, name).orElseThrow());
  }

  /** A further Workload, pending before all others. */
  void addFirst(String namespace, String name) {
    scheduler.addFirst(namespace, name);
  }

  /** A Workload is created that budget {@code team-vision} holds. */
  void addHeld(String namespace, String name) {
    scheduler.addHeld(namespace, name);
    feed.changed(null, scheduler.get(namespace, name).orElseThrow());
  }

  /** A rack more in each block. */
  void addNodes() {
    scheduler.addRack();
    feed.changed(Set.of("vision-train"), Set.of(), Set.of());
  }

  @Override
  public void close() {
    feed.close();
    service.close();
    users.close();
  }

  /** Serves one until the process ends: {@code PlayedDashboard 10000}. */
  public static void main(String[] arguments) throws Exception {
    try (PlayedDashboard played =
        new PlayedDashboard(arguments.length == 0 ? 10 : Integer.parseInt(arguments[0]))) {
      System.out.println(played.address());
      Thread.currentThread().join();
    }
  }
}
