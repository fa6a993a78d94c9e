package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.NaiveBackfill.Job;
import dev.sluice.core.engine.NaiveBackfill.Run;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.PendingWorkload;
import dev.sluice.core.model.PlannedStart.BackfillEvent;
import dev.sluice.core.model.PlannedStart.LateCause;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.FlavorQuotas;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random worlds of one queue with back-fill: the engine, one that is exported and restored again
 * and again, and the naive one decide the same, and what is promised is kept.
 */
class BackfillWorldTest {

  /** More of them in the nightly build. */
  private static final int WORLDS = 25 * Integer.getInteger("sluice.property.factor", 1);

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  /** One world. */
  private static final class World {
    private final Random random;
    private final CopiedEngine engine;
    private final NaiveBackfill naive;
    private final boolean priorities;
    private final List<BackfillEvent> events = new ArrayList<>();
    private final List<Decision> decided = new ArrayList<>();
    private final Map<String, Long> ends = new HashMap<>();
    private long version = 1;
    private long second;
    private int jobs;
    private int started;

    World(long seed, boolean priorities) {
      this.random = new Random(seed);
      this.priorities = priorities;
      this.engine = new CopiedEngine(EngineOptions.DEFAULT, seed);
      int[] quota = random.nextBoolean() ? new int[] {10} : new int[] {4 + random.nextInt(4), 7};
      int depth = 1 + random.nextInt(4);
      boolean refuses = random.nextBoolean();
      this.naive = new NaiveBackfill(quota, depth, refuses);
      List<FlavorQuotas> quotas = new ArrayList<>();
      for (int i = 0; i < quota.length; i++) {
        engine.fold(
            new SchedulerEvent.FlavorChanged(new Flavor("f" + i, Map.of(), List.of(), List.of())));
        quotas.add(SchedulerFixture.quota("f" + i, quota[i]));
      }
      engine.fold(new SchedulerEvent.TimePassed(START));
      engine.fold(new SchedulerEvent.NamespaceChanged("ns", Map.of()));
      engine.fold(new SchedulerEvent.DecidingEnabled(true));
      engine.fold(
          new SchedulerEvent.ClusterQueueChanged(
              new ClusterQueueSpec(
                      "q",
                      "",
                      List.of(new ResourceGroup(List.of("cpu"), quotas)),
                      QueueingStrategy.STRICT_FIFO,
                      new LabelSelector.Requirements(List.of()),
                      StopPolicy.NONE,
                      false,
                      PreemptionPolicies.NEVER,
                      FlavorFungibility.DEFAULT,
                      List.of(),
                      List.of())
                  .with(
                      QueueingStrategy.STRICT_FIFO,
                      QueueRules.DEFAULT.withBackfill(
                          Optional.of(
                              new BackfillRules(
                                  depth,
                                  refuses ? UnknownRunTime.REFUSE : UnknownRunTime.USE_LIMIT))))));
      engine.fold(
          new SchedulerEvent.LocalQueueChanged(
              new LocalQueueSpec(new LocalQueueId("ns", "q"), "q", StopPolicy.NONE)));
    }

    private static WorkloadId id(String name) {
      return new WorkloadId("uid-" + name, "ns", name);
    }

    void step() {
      switch (random.nextInt(8)) {
        case 0, 1, 2 -> submit();
        case 3 -> finish(random.nextInt(100));
        default -> pass(1 + random.nextInt(40));
      }
      if (random.nextInt(3) > 0) {
        settle();
      }
    }

    private void submit() {
      String name = "j" + jobs;
      OptionalLong limit =
          random.nextInt(8) == 0 ? OptionalLong.empty() : OptionalLong.of(10 + random.nextInt(300));
      Job job =
          new Job(
              name,
              random.nextInt(5) == 0 ? 4 + random.nextInt(5) : 1 + random.nextInt(3),
              priorities ? random.nextInt(3) : 0,
              jobs,
              limit);
      naive.waiting.add(job);
      engine.fold(
          new SchedulerEvent.RunBounded(
              id(name),
              limit.isPresent()
                  ? RunBound.of(Duration.ofSeconds(limit.getAsLong()))
                  : RunBound.UNKNOWN));
      Instant created = START.plusSeconds(jobs);
      engine.fold(
          new SchedulerEvent.WorkloadPending(
              new PendingWorkload(
                  id(name),
                  version++,
                  "q",
                  SchedulerFixture.shape(job.cpu()),
                  job.priority(),
                  created,
                  created,
                  Optional.empty(),
                  false,
                  Optional.empty())));
      jobs++;
    }

    /** Time passes, but nobody runs longer than its limit. */
    private void pass(int seconds) {
      settle(); // the engine decides before time passes
      long until = second + seconds;
      while (true) {
        Optional<Run> next =
            naive.running.stream()
                .filter(run -> endOf(run) <= until)
                .min(Comparator.comparingLong(this::endOf));
        if (next.isEmpty()) {
          break;
        }
        second = Math.max(second, endOf(next.get()));
        engine.fold(new SchedulerEvent.TimePassed(START.plusSeconds(second)));
        end(next.get());
        settle();
      }
      second = until;
      engine.fold(new SchedulerEvent.TimePassed(START.plusSeconds(second)));
      settle();
    }

    private long endOf(Run run) {
      return ends.getOrDefault(run.job().name(), Long.MAX_VALUE);
    }

    private void finish(int nth) {
      if (!naive.running.isEmpty()) {
        end(naive.running.get(nth % naive.running.size()));
      }
    }

    private void end(Run run) {
      naive.running.remove(run);
      engine.fold(new SchedulerEvent.WorkloadReleased(id(run.job().name()), version++));
    }

    void settle() {
      while (cycle()) {
        // until nothing is left to decide
      }
      List<String> byEngine = decided.stream().map(decision -> decision.id().name()).toList();
      decided.clear();
      List<String> byNaive = naive.settle(second);
      assertThat(byEngine).as("started at %d", second).isEqualTo(byNaive);
      for (String name : byEngine) {
        started++;
        engine.fold(new SchedulerEvent.AdmissionWritten(id(name), version++));
        naive.running.stream()
            .filter(run -> run.job().name().equals(name) && run.job().limit().isPresent())
            .forEach(
                run ->
                    ends.put(
                        name,
                        second
                            + 1
                            + (random.nextBoolean()
                                ? run.job().longest() - 2
                                : random.nextInt((int) run.job().longest() - 1))));
      }
      while (cycle()) {
        // what was written changes nothing
      }
      assertThat(decided).isEmpty();
      for (Job job : naive.waiting) {
        Optional<Instant> planned =
            engine
                .original()
                .queries()
                .pendingReason(id(job.name()))
                .flatMap(report -> report.backfill().orElseThrow().own())
                .map(start -> start.at());
        assertThat(planned)
            .as("plan of %s at %d", job, second)
            .isEqualTo(
                Optional.ofNullable(naive.plans.get(job))
                    .map(plan -> START.plusSeconds(plan.at())));
      }
    }

    private boolean cycle() {
      boolean looked = engine.cycle();
      decided.addAll(engine.takeDecisions());
      events.addAll(engine.original().statistics().backfill());
      return looked;
    }
  }

  private record Counts(int started, int backfilled, int kept, int moved) {}

  private static Counts play(int worlds, int steps, boolean priorities) {
    int started = 0;
    List<BackfillEvent> events = new ArrayList<>();
    for (long seed = 0; seed < worlds; seed++) {
      World world = new World(seed, priorities);
      try {
        for (int i = 0; i < steps; i++) {
          world.step();
        }
      } catch (AssertionError e) {
        throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
      }
      if (!priorities) {
        assertThat(world.events)
            .as("seed %d: no promise is broken", seed)
            .noneMatch(
                event ->
                    event.kind() == BackfillEvent.Kind.MOVED
                        || event.kind() == BackfillEvent.Kind.LATE);
      }
      assertThat(world.events)
          .as("seed %d", seed)
          .allMatch(
              event ->
                  event.kind() != BackfillEvent.Kind.MOVED
                      || event.cause().equals(Optional.of(LateCause.HIGHER_PRIORITY)));
      started += world.started;
      events.addAll(world.events);
    }
    return new Counts(
        started,
        count(events, BackfillEvent.Kind.BACKFILLED),
        count(events, BackfillEvent.Kind.KEPT),
        count(events, BackfillEvent.Kind.MOVED));
  }

  private static int count(List<BackfillEvent> events, BackfillEvent.Kind kind) {
    return (int) events.stream().filter(event -> event.kind() == kind).count();
  }

  @Test
  void decidesAsTheNaiveOneAndKeepsEveryPromise() {
    Counts counts = play(WORLDS, 120, false);
    assertThat(counts.backfilled()).isGreaterThan(100);
    assertThat(counts.kept()).isGreaterThan(100);
  }

  @Test
  void decidesAsTheNaiveOneWherePrioritiesMovePlans() {
    Counts counts = play(WORLDS, 120, true);
    assertThat(counts.backfilled()).isGreaterThan(100);
    assertThat(counts.moved()).isPositive();
  }
}
