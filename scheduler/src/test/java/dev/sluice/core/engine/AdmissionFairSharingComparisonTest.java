package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * LocalQueues that take turns, in random worlds: the engine and a twin, written from the contract
 * with nothing but lists, admit the same Workloads in the same order. The half-life is the interval
 * and all weights are powers of two, so that sums are exact and ties are ties.
 */
class AdmissionFairSharingComparisonTest {

  private static final int STEPS = 1000;
  private static final int CAPACITY = 10;
  private static final int MOST_JOBS = 25;
  private static final double[] WEIGHTS = {0, 0.5, 1, 1, 2};

  /** A LocalQueue, as the twin sees it. */
  private static final class Local {
    final String name;
    double weight = 1;
    double consumed;

    Local(String name) {
      this.name = name;
    }
  }

  /** A Workload, as the twin sees it. */
  private static final class Job {
    final String name;
    final Local queue;
    final int cpu;
    final int priority;
    final int second;
    boolean holds;
    boolean written;
    boolean admitted;

    /** Whether its entry penalty has become part of what its queue consumed. */
    boolean charged;

    Job(String name, Local queue, int cpu, int priority, int second) {
      this.name = name;
      this.queue = queue;
      this.cpu = cpu;
      this.priority = priority;
      this.second = second;
    }

    int cpu() {
      return cpu;
    }
  }

  private final List<Local> queues = List.of(new Local("a"), new Local("b"), new Local("c"));
  private final List<Job> jobs = new ArrayList<>();
  private boolean countsReservations;

  @SuppressWarnings("NullAway.Init") // set by each test first
  private SchedulerFixture schedulerFixture;

  private int minute;
  private int decided;

  private double use(Local queue) {
    if (queue.weight <= 0) {
      return Double.POSITIVE_INFINITY;
    }
    double entering =
        jobs.stream()
            .filter(job -> job.queue == queue && job.holds && !job.charged)
            .mapToInt(Job::cpu)
            .sum();
    return (queue.consumed + 0.5 * entering) / queue.weight;
  }

  private List<Job> waiting() {
    List<Job> waiting = new ArrayList<>(jobs);
    waiting.removeIf(job -> job.holds);
    waiting.sort(
        Comparator.<Job>comparingDouble(job -> use(job.queue))
            .thenComparing(job -> -job.priority)
            .thenComparing(job -> job.second)
            .thenComparing(job -> "uid-" + job.name));
    return waiting;
  }

  /** Whoever is first and fits is admitted, until nobody is. */
  private List<String> turns(boolean strict) {
    List<String> admitted = new ArrayList<>();
    while (true) {
      int free = CAPACITY - jobs.stream().filter(job -> job.holds).mapToInt(Job::cpu).sum();
      List<Job> order = waiting();
      Job next = null;
      for (Job job : strict && !order.isEmpty() ? order.subList(0, 1) : order) {
        if (job.cpu <= free) {
          next = job;
          break;
        }
      }
      if (next == null) {
        return admitted;
      }
      next.holds = true;
      admitted.add(next.name);
    }
  }

  private List<String> decisions() {
    while (schedulerFixture.engine.cycle()) {
      // until nothing is left to look at
    }
    List<String> admitted = new ArrayList<>();
    for (Decision decision :
        schedulerFixture.decisions.subList(decided, schedulerFixture.decisions.size())) {
      assertThat(decision).isInstanceOf(Decision.Admit.class);
      admitted.add(decision.id().name());
    }
    decided = schedulerFixture.decisions.size();
    return admitted;
  }

  /** Changes of 0.20, section 4, AdmissionFairSharingAnchorAtQuotaReservation. */
  @ParameterizedTest
  @CsvSource({
    "1, true, ADMISSION",
    "2, true, ADMISSION",
    "3, true, QUOTA_RESERVATION",
    "1, false, ADMISSION",
    "2, false, QUOTA_RESERVATION",
    "3, false, QUOTA_RESERVATION"
  })
  void bothAdmitTheSameInTheSameOrder(
      int seed, boolean strict, AdmissionFairSharing.Anchor anchor) {
    Random random = new Random(seed);
    countsReservations = anchor == AdmissionFairSharing.Anchor.QUOTA_RESERVATION;
    schedulerFixture =
        new SchedulerFixture(
            new EngineOptions(
                Optional.empty(),
                false,
                Optional.of(
                    new AdmissionFairSharing(
                        Duration.ofMinutes(1), Duration.ofMinutes(1), Map.of(), anchor)),
                OrderingRules.DEFAULT));
    declare(strict);
    int total = 0;
    for (int step = 0; step < STEPS; step++) {
      change(random, step);
      List<String> wanted = turns(strict);
      assertThat(decisions()).as("step " + step).isEqualTo(wanted);
      assertThat(schedulerFixture.engine.queries().pendingIn("pool"))
          .as("step " + step)
          .extracting(position -> position.id().name())
          .isEqualTo(waiting().stream().map(job -> job.name).toList());
      total += wanted.size();
    }
    assertThat(total).isGreaterThan(STEPS / 10);
  }

  private void declare(boolean strict) {
    schedulerFixture.flavor("f");
    schedulerFixture.engine.apply(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                    "pool",
                    "",
                    List.of(
                        new ResourceGroup(
                            List.of("cpu"),
                            List.of(SchedulerFixture.quota("f", CAPACITY * 1000L)))),
                    strict ? QueueingStrategy.STRICT_FIFO : QueueingStrategy.BEST_EFFORT_FIFO,
                    new LabelSelector.Requirements(List.of()),
                    StopPolicy.NONE,
                    false,
                    PreemptionPolicies.NEVER,
                    FlavorFungibility.DEFAULT,
                    List.of(),
                    List.of())
                .orderedByUsage()));
    queues.forEach(this::declare);
  }

  private void declare(Local queue) {
    schedulerFixture.engine.apply(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(
                new LocalQueueId("ns", queue.name), "pool", StopPolicy.NONE, queue.weight)));
  }

  private void change(Random random, int step) {
    switch (random.nextInt(8)) {
      case 0, 1, 2 -> {
        if (jobs.size() == MOST_JOBS) {
          return;
        }
        Job job =
            new Job(
                "job-" + step,
                queues.get(random.nextInt(queues.size())),
                1 + random.nextInt(4),
                random.nextInt(3),
                random.nextInt(100));
        jobs.add(job);
        schedulerFixture.submit(
            job.name, job.queue.name, job.cpu * 1000L, job.priority, job.second);
      }
      case 3, 4 -> {
        List<Job> leaving = new ArrayList<>(jobs);
        if (random.nextInt(4) > 0) {
          leaving.removeIf(job -> !job.holds);
        }
        if (!leaving.isEmpty()) {
          Job job = leaving.get(random.nextInt(leaving.size()));
          jobs.remove(job);
          schedulerFixture.finish(job.name);
        }
      }
      case 5 -> written(random);
      case 6 -> {
        Local queue = queues.get(random.nextInt(queues.size()));
        queue.weight = WEIGHTS[random.nextInt(WEIGHTS.length)];
        declare(queue);
      }
      default -> pass(1 + random.nextInt(3));
    }
  }

  /** Some of those that were decided are told to be written, and most of them admitted. */
  private void written(Random random) {
    for (Job job : jobs) {
      if (job.holds && !job.written && random.nextBoolean()) {
        job.written = true;
        job.admitted = random.nextInt(4) > 0;
        if (job.admitted || countsReservations) {
          job.charged = true;
          job.queue.consumed += 0.5 * job.cpu;
        }
        schedulerFixture.engine.apply(
            new SchedulerEvent.AdmissionWritten(
                new WorkloadId("uid-" + job.name, "ns", job.name),
                schedulerFixture.nextVersion(),
                job.admitted));
      }
    }
  }

  private void pass(int minutes) {
    minute += minutes;
    schedulerFixture.engine.apply(
        new SchedulerEvent.TimePassed(
            SchedulerFixture.START.plus(Duration.ofMinutes(1).multipliedBy(minute))));
    double old = Math.pow(0.5, minutes);
    for (Local queue : queues) {
      int used =
          jobs.stream()
              .filter(job -> job.queue == queue)
              .filter(job -> countsReservations ? job.holds : job.admitted)
              .mapToInt(Job::cpu)
              .sum();
      double consumed = queue.consumed * old + used * (1 - old);
      queue.consumed = consumed < 1e-9 ? 0 : consumed;
    }
  }
}
