package dev.sluice.bench;

import dev.sluice.engine.EngineProbe;
import dev.sluice.model.Amounts;
import dev.sluice.model.ClusterQueueSpec;
import dev.sluice.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.model.Decision;
import dev.sluice.model.Fact;
import dev.sluice.model.Flavor;
import dev.sluice.model.FlavorFungibility;
import dev.sluice.model.LabelSelector;
import dev.sluice.model.LocalQueueId;
import dev.sluice.model.LocalQueueSpec;
import dev.sluice.model.PendingWorkload;
import dev.sluice.model.Placement;
import dev.sluice.model.PodSetRequest;
import dev.sluice.model.PreemptionPolicies;
import dev.sluice.model.Quota;
import dev.sluice.model.ResourceGroup;
import dev.sluice.model.WorkloadId;
import dev.sluice.model.WorkloadShape;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;

/**
 * A full cluster in which work ends and waits: so many ClusterQueues in cohorts, all quota in use,
 * so many Workloads pending. In each round some that run in one cohort end, as many new ones arrive
 * there, and the engine decides until nothing is left to look at; the next round is another
 * cohort's turn. Everything the engine hears of in production is part of it: arrivals, written
 * admissions, ends; explanations are taken, views are published.
 */
public final class EngineScenario {

  /** How many end between two rounds of cycles. */
  public static final int ENDS_PER_ROUND = 10;

  private static final int ROUNDS_PER_VIEW = 1_000;
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final long CPU_OF_QUEUE = 20_000;

  private final EngineProbe engine = new EngineProbe();
  private final Random random = new Random(1);
  private final List<Queue<WorkloadId>> running = new ArrayList<>();
  private final int queues;
  private final int perCohort;
  private final int shapes;
  private long version = 1;
  private long arrivals;
  private long rounds;
  private long decisions;
  private long facts;

  /**
   * @param queues how many ClusterQueues
   * @param perCohort how many of them share a cohort
   * @param shapes how many different requests there are
   */
  public EngineScenario(int queues, int perCohort, int shapes) {
    this.queues = queues;
    this.perCohort = Math.min(perCohort, queues);
    this.shapes = shapes;
    fold(new Fact.TimePassed(START));
    fold(new Fact.NamespaceChanged("team", Map.of()));
    fold(new Fact.FlavorChanged(new Flavor("default", Map.of(), List.of(), List.of())));
    for (int i = 0; i < queues; i++) {
      if (i % this.perCohort == 0) {
        running.add(new ArrayDeque<>());
      }
      fold(new Fact.ClusterQueueChanged(queue("queue-" + i, "cohort-" + i / this.perCohort)));
      fold(
          new Fact.LocalQueueChanged(
              new LocalQueueSpec(
                  new LocalQueueId("team", "queue-" + i), "queue-" + i, StopPolicy.NONE)));
    }
  }

  private static ClusterQueueSpec queue(String name, String cohort) {
    Quota cpu = new Quota(CPU_OF_QUEUE, Amounts.UNLIMITED, Amounts.UNLIMITED);
    Quota memory = new Quota(CPU_OF_QUEUE << 20, Amounts.UNLIMITED, Amounts.UNLIMITED);
    return new ClusterQueueSpec(
        name,
        cohort,
        List.of(
            new ResourceGroup(
                List.of("cpu", "memory"),
                List.of(
                    new ResourceGroup.FlavorQuotas(
                        "default", Map.of("cpu", cpu, "memory", memory))))),
        QueueingStrategy.BEST_EFFORT_FIFO,
        new LabelSelector.Requirements(List.of()),
        StopPolicy.NONE,
        false,
        PreemptionPolicies.NEVER,
        FlavorFungibility.DEFAULT,
        List.of(),
        List.of());
  }

  private void fold(Fact fact) {
    facts++;
    engine.fold(fact);
  }

  /** Lets Workloads arrive, and runs as many of them as fit. */
  public void fill(int workloads) {
    fold(new Fact.DecidingEnabled(false));
    for (int i = 0; i < workloads; i++) {
      arrive(random.nextInt(queues));
    }
    fold(new Fact.DecidingEnabled(true));
    decide();
  }

  private void arrive(int queue) {
    long number = arrivals++;
    int shape = random.nextInt(shapes);
    long cpu = 1_000L + 4_000L * shape / shapes;
    WorkloadShape requests =
        new WorkloadShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1,
                    0,
                    new TreeMap<>(Map.of("cpu", cpu, "memory", 500L << 20)),
                    Placement.ANYWHERE,
                    "")));
    Instant created = START.plusMillis(number);
    UUID uid = new UUID(random.nextLong(), random.nextLong());
    fold(
        new Fact.WorkloadPending(
            new PendingWorkload(
                new WorkloadId(uid.toString(), "team", "job-sample-" + number),
                version++,
                "queue-" + queue,
                requests,
                0,
                created,
                created,
                Optional.empty(),
                false,
                Optional.empty())));
  }

  private void decide() {
    while (engine.cycle()) {
      for (Decision decision : engine.takeDecisions()) {
        if (decision instanceof Decision.Admit admit) {
          decisions++;
          int queue =
              Integer.parseInt(
                  admit.clusterQueue(), "queue-".length(), admit.clusterQueue().length(), 10);
          running.get(queue / perCohort).add(admit.id());
          fold(new Fact.AdmissionWritten(admit.id(), version++));
        }
      }
    }
    engine.untold();
    if (rounds++ % ROUNDS_PER_VIEW == 0) {
      engine.views();
    }
  }

  /** One round; returns how many admissions were decided in it. */
  public long round() {
    long before = decisions;
    int cohort = (int) (rounds % running.size());
    for (int i = 0; i < ENDS_PER_ROUND; i++) {
      WorkloadId ended = running.get(cohort).poll();
      if (ended != null) {
        fold(new Fact.WorkloadReleased(ended, version++));
        arrive(cohort * perCohort + random.nextInt(perCohort));
      }
    }
    decide();
    return decisions - before;
  }

  /** How many facts were folded in since the beginning. */
  public long facts() {
    return facts;
  }

  /** How many hold quota now. */
  public int running() {
    return running.stream().mapToInt(Queue::size).sum();
  }
}
