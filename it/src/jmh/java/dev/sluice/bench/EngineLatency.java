package dev.sluice.bench;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineProbe;
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
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;

/**
 * How long single decisions take, by the clock: a preemption among so many candidates, and a cycle
 * of a tournament in which so many queues of one cohort have a head each. Prints a table in
 * Markdown.
 */
public final class EngineLatency {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final int LENDERS = 10;
  private static final int REPETITIONS = 4_000;
  private static final PreemptionPolicies ALL =
      new PreemptionPolicies(
          PreemptionPolicies.WithinClusterQueue.LOWER_PRIORITY,
          PreemptionPolicies.ReclaimWithinCohort.ANY,
          false,
          OptionalInt.empty());

  private final EngineProbe engine;
  private final Random random = new Random(1);
  private long version = 1;

  private EngineLatency(Optional<FairSharing> sharing) {
    this.engine = new EngineProbe(new EngineOptions(sharing, false));
    engine.fold(new SchedulerEvent.TimePassed(START));
    engine.fold(new SchedulerEvent.NamespaceChanged("team", Map.of()));
    engine.fold(
        new SchedulerEvent.FlavorChanged(new Flavor("default", Map.of(), List.of(), List.of())));
    engine.fold(new SchedulerEvent.DecidingEnabled(true));
  }

  /**
   * Prints the table.
   *
   * @param args none
   */
  public static void main(String[] args) {
    System.out.println("| decision | among | median, ms | p99, ms |");
    System.out.println("|---|---:|---:|---:|");
    preemption(1_000); // warms up
    for (int candidates : new int[] {10, 100, 1_000, 10_000}) {
      print("preemption of 10, candidates", candidates, preemption(candidates));
    }
    tournament(100);
    for (int queues : new int[] {1, 10, 100, 1_000}) {
      print("cycle with a tournament, heads", queues, tournament(queues));
    }
  }

  private static void print(String what, int among, Durations times) {
    System.out.printf(
        Locale.ROOT,
        "| %s | %,d | %.3f | %.3f |%n",
        what,
        among,
        times.millis(0.5),
        times.millis(0.99));
  }

  private void queue(String name, long cpu) {
    engine.fold(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                name,
                "cohort",
                List.of(
                    new ResourceGroup(
                        List.of("cpu"),
                        List.of(
                            new ResourceGroup.FlavorQuotas(
                                "default",
                                Map.of(
                                    "cpu",
                                    new Quota(
                                        cpu,
                                        ResourceAmounts.UNLIMITED,
                                        ResourceAmounts.UNLIMITED)))))),
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

  private WorkloadId submit(String queue, long cpu, int priority) {
    RequestShape shape =
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1,
                    0,
                    new TreeMap<>(Map.of("cpu", cpu)),
                    NodeConstraints.ANYWHERE,
                    "")));
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

  private void write(List<Decision> decisions) {
    for (Decision decision : decisions) {
      if (decision instanceof Decision.Admit admit) {
        engine.fold(new SchedulerEvent.AdmissionWritten(admit.id(), version++, true));
      }
    }
  }

  private void settle() {
    while (engine.cycle()) {
      write(engine.takeDecisions());
    }
    engine.untold();
  }

  /** All quota is lent to others; the owner takes ten parts of it back, and it is undone. */
  private static Durations preemption(int candidates) {
    EngineLatency world = new EngineLatency(Optional.empty());
    world.queue("owner", candidates);
    for (int i = 0; i < LENDERS; i++) {
      world.queue("lender-" + i, 0);
    }
    for (int i = 0; i < candidates; i++) {
      world.submit("lender-" + i % LENDERS, 1, world.random.nextInt(5));
    }
    world.settle();
    Durations times = new Durations();
    for (int i = 0; i < REPETITIONS; i++) {
      WorkloadId owner = world.submit("owner", 10, 10);
      long start = System.nanoTime();
      world.engine.cycle();
      times.add(System.nanoTime() - start);
      for (Decision decision : world.engine.takeDecisions()) {
        if (decision instanceof Decision.Preempt preempt && preempt.targets().size() == 10) {
          for (Decision.Target target : preempt.targets()) {
            world.engine.fold(new SchedulerEvent.EvictionRefused(target.id(), target.version()));
          }
        } else {
          throw new IllegalStateException("not ten victims: " + decision);
        }
      }
      world.engine.fold(new SchedulerEvent.WorkloadReleased(owner, world.version++));
      world.settle();
    }
    return times;
  }

  /** Each queue has one that asks for all that is free: the one with the least share gets it. */
  private static Durations tournament(int queues) {
    EngineLatency world =
        new EngineLatency(
            Optional.of(
                new FairSharing(
                    List.of(FairSharing.Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE), true, true)));
    for (int i = 0; i < queues; i++) {
      world.queue("queue-" + i, 0);
    }
    world.queue("owner", 1);
    Durations times = new Durations();
    for (int i = 0; i < REPETITIONS / 10; i++) {
      WorkloadId[] heads = new WorkloadId[queues];
      for (int queue = 0; queue < queues; queue++) {
        heads[queue] = world.submit("queue-" + queue, 1, 0);
      }
      long start = System.nanoTime();
      world.engine.cycle();
      times.add(System.nanoTime() - start);
      List<Decision> decisions = world.engine.takeDecisions();
      if (decisions.size() != 1) {
        throw new IllegalStateException("not one admission: " + decisions);
      }
      world.write(decisions);
      for (WorkloadId head : heads) {
        world.engine.fold(new SchedulerEvent.WorkloadReleased(head, world.version++));
      }
      world.settle();
    }
    return times;
  }
}
