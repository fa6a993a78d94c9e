package dev.sluice.bench;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.topology.PlacementRequest;
import dev.sluice.core.topology.TopologyCache;
import dev.sluice.core.topology.TopologyCache.Placement;
import dev.sluice.core.topology.TopologyOptions;
import dev.sluice.core.topology.TopologyTree;
import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;

/**
 * How long a cycle takes in which pods are placed on nodes, in CPU time of the thread and by the
 * clock: a preemption among so many candidates, and so many heads that share fairly; and a search
 * for places alone. Racks have 20 nodes, nodes have room for 8 pods. Prints a table in Markdown.
 */
public final class TopologyLatency {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final int PODS = 8;
  private static final PreemptionPolicies ALL =
      new PreemptionPolicies(
          PreemptionPolicies.WithinClusterQueue.LOWER_PRIORITY,
          PreemptionPolicies.ReclaimWithinCohort.ANY,
          false,
          OptionalInt.empty());

  private final EngineProbe engine;
  private final Random random = new Random(1);
  private long version = 1;

  /** Times of one kind of cycle. */
  private static final class Times {
    private final Durations cpu = new Durations();
    private final Durations clock = new Durations();

    void measure(Runnable cycle) {
      long cpuStart = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      long start = System.nanoTime();
      cycle.run();
      clock.add(System.nanoTime() - start);
      cpu.add(ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpuStart);
    }

    void print(String what, int nodes, int among) {
      System.out.printf(
          Locale.ROOT,
          "| %s | %,d | %,d | %.2f | %.2f | %.2f | %.2f | %.2f |%n",
          what,
          nodes,
          among,
          cpu.millis(0),
          cpu.millis(0.5),
          cpu.millis(0.99),
          clock.millis(0.5),
          clock.millis(0.99));
    }
  }

  private TopologyLatency(Optional<FairSharing> sharing, int nodes) {
    this.engine = new EngineProbe(new EngineOptions(sharing, false));
    engine.fold(new SchedulerEvent.TimePassed(START));
    engine.fold(new SchedulerEvent.NamespaceChanged("team", Map.of()));
    engine.fold(
        new SchedulerEvent.TopologyChanged(
            new TopologySpec("racks", List.of("block", "rack", TopologySpec.HOSTNAME))));
    engine.fold(
        new SchedulerEvent.FlavorChanged(
            new Flavor("default", Map.of(), List.of(), List.of(), "racks")));
    for (int i = 0; i < nodes; i++) {
      String name = "n" + i;
      engine.fold(
          new SchedulerEvent.NodeChanged(
              new ClusterNode(
                  name,
                  Map.of("block", "b" + i / 400, "rack", "r" + i / 20, TopologySpec.HOSTNAME, name),
                  List.of(),
                  new TreeMap<>(Map.of("cpu", (long) PODS, "pods", 110L)),
                  true)));
    }
    engine.fold(new SchedulerEvent.DecidingEnabled(true));
  }

  /**
   * Prints the table.
   *
   * @param args none
   */
  public static void main(String[] args) {
    System.out.println(
        "| what | nodes | among | least CPU, ms | median CPU, ms | p99 CPU, ms | median, ms | p99,"
            + " ms |");
    System.out.println("|---|---:|---:|---:|---:|---:|---:|---:|");
    for (String asked : List.of("required", "preferred", "unconstrained")) {
      placements(1_000, asked, 5_000); // warms up
      for (int leaves : new int[] {1_000, 10_000, 100_000}) {
        placements(leaves, asked, 1_000).print("one placement, " + asked + ", pods", leaves, 64);
      }
    }
    preemption(200, 70, 200); // warms up
    preemption(2_000, 700, 400).print("preemption for a whole rack, candidates", 2_000, 700);
    heads(130, 50, 60);
    heads(1_300, 500, 60).print("fair sharing, 4 pods prefer a rack, heads", 1_300, 500);
  }

  private void queue(String name, long cpu) {
    Quota quota = new Quota(cpu, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
    engine.fold(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                name,
                "cohort",
                List.of(
                    new ResourceGroup(
                        List.of("cpu"),
                        List.of(new ResourceGroup.FlavorQuotas("default", Map.of("cpu", quota))))),
                QueueingStrategy.BEST_EFFORT_FIFO,
                new LabelSelector.Requirements(List.of()),
                StopPolicy.NONE,
                false,
                ALL,
                FlavorFungibility.DEFAULT,
                List.of(),
                List.of())));
    engine.fold(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("team", name), name, StopPolicy.NONE)));
  }

  private WorkloadId submit(String queue, int pods, TopologyRequest asked, int priority) {
    RequestShape shape =
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    pods,
                    0,
                    new TreeMap<>(Map.of("cpu", 1L)),
                    NodeConstraints.ANYWHERE,
                    "",
                    asked)));
    Instant created = START.plusMillis(version);
    WorkloadId id =
        new WorkloadId(
            new UUID(random.nextLong(), random.nextLong()).toString(), "team", "job-" + version);
    engine.fold(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                id,
                version++,
                queue,
                shape,
                priority,
                created,
                created,
                Optional.empty(),
                false,
                Optional.empty())));
    return id;
  }

  private void settle() {
    while (engine.cycle()) {
      for (Decision decision : engine.takeDecisions()) {
        if (decision instanceof Decision.Admit admit) {
          engine.fold(new SchedulerEvent.AdmissionWritten(admit.id(), version++, true));
        }
      }
    }
    engine.untold();
  }

  /** Searches for places of 64 pods on nodes of which half is used. */
  private static Times placements(int leaves, String asked, int repetitions) {
    Random random = new Random(1);
    TopologyCache cache = new TopologyCache(TopologyOptions.DEFAULT);
    cache.set(new TopologySpec("t", List.of("block", "rack", TopologySpec.HOSTNAME)));
    cache.set(new Flavor("f", Map.of(), List.of(), List.of(), "t"));
    for (int i = 0; i < leaves; i++) {
      String name = "n" + i;
      cache.set(
          new ClusterNode(
              name,
              Map.of("block", "b" + i / 400, "rack", "r" + i / 20, TopologySpec.HOSTNAME, name),
              List.of(),
              new TreeMap<>(Map.of("cpu", 64_000L, "gpu", 8L, "pods", 110L)),
              true));
      long gpus = random.nextInt(9);
      cache.setUsage(name, new TreeMap<>(Map.of("cpu", gpus * 7_000, "gpu", gpus, "pods", gpus)));
    }
    TopologyRequest request =
        switch (asked) {
          case "required" -> TopologyRequest.required("rack");
          case "preferred" -> TopologyRequest.preferred(TopologySpec.HOSTNAME);
          default -> TopologyRequest.unconstrained();
        };
    PlacementRequest.Pods pods =
        new PlacementRequest.Pods(
            64, new TreeMap<>(Map.of("cpu", 7_000L, "gpu", 1L)), NodeConstraints.ANYWHERE);
    TopologyTree tree = Objects.requireNonNull(cache.tree("f"));
    Times times = new Times();
    for (int i = 0; i < repetitions; i++) {
      times.measure(
          () -> {
            if (!(cache.place(tree, new PlacementRequest(pods, null, request), false)
                instanceof Placement.Placed)) {
              throw new IllegalStateException("no place");
            }
          });
    }
    return times;
  }

  /**
   * Candidates that fill all nodes, in pieces of like size; one with a higher priority wants a
   * whole rack, of which nothing is free.
   */
  private static Times preemption(int nodes, int candidates, int repetitions) {
    TopologyLatency world = new TopologyLatency(Optional.empty(), nodes);
    world.queue("queue", (long) nodes * PODS * 2);
    int pods = nodes * PODS / candidates;
    for (int i = 0; i < candidates; i++) {
      world.submit("queue", pods, TopologyRequest.preferred("rack"), world.random.nextInt(5));
    }
    int left = nodes * PODS - candidates * pods;
    if (left > 0) {
      world.submit("queue", left, TopologyRequest.unconstrained(), 20);
    }
    world.settle();
    Times times = new Times();
    for (int i = 0; i < repetitions; i++) {
      WorkloadId head = world.submit("queue", 150, TopologyRequest.required("rack"), 10);
      times.measure(world.engine::cycle);
      List<Decision> decisions = world.engine.takeDecisions();
      if (decisions.size() != 1) {
        throw new IllegalStateException("not one preemption: " + decisions);
      }
      if (decisions.getFirst() instanceof Decision.Preempt preempt) {
        for (Decision.Target target : preempt.targets()) {
          world.engine.fold(new SchedulerEvent.EvictionRefused(target.id(), target.version()));
        }
      }
      world.engine.fold(new SchedulerEvent.WorkloadReleased(head, world.version++));
      world.settle();
    }
    return times;
  }

  /** Each queue has a head, and all of them are admitted in one cycle. */
  private static Times heads(int nodes, int queues, int repetitions) {
    TopologyLatency world =
        new TopologyLatency(
            Optional.of(
                new FairSharing(
                    List.of(FairSharing.Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE), true, true)),
            nodes);
    for (int i = 0; i < queues; i++) {
      world.queue("queue-" + i, (long) nodes * PODS / queues);
    }
    Times times = new Times();
    for (int i = 0; i < repetitions; i++) {
      List<WorkloadId> heads = new ArrayList<>();
      for (int queue = 0; queue < queues; queue++) {
        heads.add(world.submit("queue-" + queue, 4, TopologyRequest.preferred("rack"), 0));
      }
      times.measure(world.engine::cycle);
      if (world.engine.takeDecisions().size() != queues) {
        throw new IllegalStateException("not all were admitted");
      }
      for (WorkloadId head : heads) {
        world.engine.fold(new SchedulerEvent.WorkloadReleased(head, world.version++));
      }
      world.settle();
    }
    return times;
  }
}
