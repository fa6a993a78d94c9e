package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.backfill.BackfillExport;
import dev.sluice.core.backfill.PlannedStarts;
import dev.sluice.core.backfill.QuotaProfile;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.Instants;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.FlavorQuotas;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.queue.RunEnds;
import dev.sluice.core.quota.QuotaNode;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random worlds of several quota trees with back-fill: an engine that plans what may have changed
 * decides and plans the same as one that is made anew before each cycle and plans everything; and
 * what is free over time is the same as when runs are taken out of the quota tree one by one.
 */
class BackfillTreesTest {

  private static final int WORLDS = 60 * Integer.getInteger("sluice.property.factor", 1);
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final List<String> QUEUES = List.of("a1", "a2", "a3", "b1", "b2", "c");

  private static final class World {
    private final Random random;
    private final List<Decision> decided = new ArrayList<>();
    private final List<Decision> decidedAnew = new ArrayList<>();
    private final Engine engine = new Engine(EngineOptions.DEFAULT, decided::add);
    private final Map<String, RunBound> bounds = new HashMap<>();
    private final List<WorkloadId> running = new ArrayList<>();
    private final Map<WorkloadId, PendingWorkload> known = new HashMap<>();
    private Engine anew = new Engine(EngineOptions.DEFAULT, decidedAnew::add);
    private boolean happened;
    private long version = 1;
    private long second;
    private int jobs;
    private int backfilled;

    World(long seed) {
      random = new Random(seed);
      fold(new SchedulerEvent.TimePassed(START));
      fold(new SchedulerEvent.NamespaceChanged("ns", Map.of()));
      fold(new SchedulerEvent.DecidingEnabled(true));
      for (String flavor : List.of("f0", "f1")) {
        fold(new SchedulerEvent.FlavorChanged(new Flavor(flavor, Map.of(), List.of(), List.of())));
      }
      fold(
          new SchedulerEvent.CohortChanged(
              new CohortSpec("a-low", "a", List.of(), BigDecimal.ONE, QuotaRules.DEFAULT)));
      for (String queue : QUEUES) {
        fold(new SchedulerEvent.ClusterQueueChanged(queue(queue)));
        fold(
            new SchedulerEvent.LocalQueueChanged(
                new LocalQueueSpec(new LocalQueueId("ns", queue), queue, StopPolicy.NONE)));
      }
    }

    private ClusterQueueSpec queue(String name) {
      String cohort =
          switch (name) {
            case "a1", "a2" -> "a-low";
            case "a3" -> "a";
            case "b1", "b2" -> "b";
            default -> "";
          };
      List<FlavorQuotas> quotas = new ArrayList<>();
      for (int i = 0; i <= random.nextInt(2); i++) {
        quotas.add(
            new FlavorQuotas(
                "f" + i,
                Map.of("cpu", new Quota((2 + random.nextInt(6)) * 1_000L, limit(), limit()))));
      }
      boolean strict = random.nextInt(4) > 0;
      Optional<BackfillRules> backfill =
          strict && random.nextInt(4) > 0
              ? Optional.of(
                  new BackfillRules(
                      1 + random.nextInt(3), UnknownRunTime.values()[random.nextInt(3)]))
              : Optional.empty();
      QueueingStrategy strategy =
          strict ? QueueingStrategy.STRICT_FIFO : QueueingStrategy.BEST_EFFORT_FIFO;
      return new ClusterQueueSpec(
              name,
              cohort,
              List.of(new ResourceGroup(List.of("cpu"), quotas)),
              strategy,
              new LabelSelector.Requirements(List.of()),
              StopPolicy.NONE,
              false,
              random.nextInt(4) > 0
                  ? PreemptionPolicies.NEVER
                  : new PreemptionPolicies(
                      WithinClusterQueue.LOWER_PRIORITY,
                      ReclaimWithinCohort.ANY,
                      false,
                      OptionalInt.empty()),
              FlavorFungibility.DEFAULT,
              List.of(),
              List.of())
          .with(strategy, QueueRules.DEFAULT.withBackfill(backfill));
    }

    private long limit() {
      return random.nextBoolean() ? ResourceAmounts.UNLIMITED : random.nextInt(4) * 1_000L;
    }

    private void fold(SchedulerEvent schedulerEvent) {
      engine.apply(schedulerEvent);
      anew.apply(schedulerEvent);
      happened |= !(schedulerEvent instanceof SchedulerEvent.TimePassed);
    }

    void step() {
      switch (random.nextInt(9)) {
        case 0, 1, 2 -> submit();
        case 3, 4 -> {
          if (!running.isEmpty()) {
            WorkloadId ended = running.remove(random.nextInt(running.size()));
            fold(new SchedulerEvent.WorkloadReleased(ended, version++));
          }
        }
        case 5 -> {
          if (jobs > 0) {
            bound(id("j" + random.nextInt(jobs)));
          }
        }
        case 6 -> {
          if (random.nextInt(4) == 0) {
            String name = QUEUES.get(random.nextInt(QUEUES.size()));
            fold(new SchedulerEvent.ClusterQueueChanged(queue(name)));
          }
        }
        default -> {
          second += 1 + random.nextInt(60);
          fold(new SchedulerEvent.TimePassed(START.plusSeconds(second)));
        }
      }
      if (random.nextInt(3) > 0) {
        settle();
        profiles();
      }
    }

    private static WorkloadId id(String name) {
      return new WorkloadId("uid-" + name, "ns", name);
    }

    private void bound(WorkloadId id) {
      RunBound bound =
          switch (random.nextInt(5)) {
            case 0 -> RunBound.UNKNOWN;
            case 1 ->
                new RunBound(Optional.empty(), Optional.of(duration()), Optional.of(duration()));
            default -> RunBound.of(duration());
          };
      bounds.put(id.uid(), bound);
      fold(new SchedulerEvent.RunBounded(id, bound));
    }

    private Duration duration() {
      return Duration.ofSeconds(10 + random.nextInt(300));
    }

    private void submit() {
      String name = "j" + jobs++;
      if (random.nextInt(8) > 0) {
        bound(id(name));
      }
      Instant created = START.plusSeconds(jobs);
      pending(
          new PendingWorkload(
              id(name),
              version++,
              QUEUES.get(random.nextInt(QUEUES.size())),
              SchedulerFixture.shape(1_000 * (1 + random.nextInt(4))),
              random.nextInt(2),
              created,
              created,
              Optional.empty(),
              false,
              Optional.empty()));
    }

    private void pending(PendingWorkload workload) {
      known.put(workload.id(), workload);
      fold(new SchedulerEvent.WorkloadPending(workload));
    }

    private void settle() {
      for (int i = 0; i < 100 && cycle(); i++) {
        assertThat(decidedAnew).isEqualTo(decided);
        List<Decision> taken = List.copyOf(decided);
        decided.clear();
        decidedAnew.clear();
        for (Decision decision : taken) {
          if (decision instanceof Decision.Admit admit) {
            running.add(admit.id());
            fold(new SchedulerEvent.AdmissionWritten(admit.id(), version++));
          } else if (decision instanceof Decision.Preempt preempt) {
            for (Decision.Target target : preempt.targets()) {
              PendingWorkload stopped = known.get(target.id());
              if (running.remove(target.id()) && stopped != null) {
                fold(new SchedulerEvent.WorkloadReleased(target.id(), version++));
              }
            }
          }
        }
      }
    }

    private boolean cycle() {
      EngineState state = anew.export();
      EngineState.WorkloadsExport all = state.workloads();
      BackfillExport plans = all.backfill();
      BackfillExport again =
          new BackfillExport(
              plans.bounds(),
              plans.plans(),
              plans.trees(),
              plans.changed() || happened,
              plans.next(),
              plans.passes());
      anew =
          Engine.restore(
              EngineOptions.DEFAULT,
              new EngineState(
                  state.options(),
                  state.now(),
                  state.deciding(),
                  state.specs(),
                  state.clusterQueues(),
                  state.localQueues(),
                  new EngineState.WorkloadsExport(
                      all.workloads(),
                      all.timers(),
                      all.slices(),
                      all.replacements(),
                      all.secondPasses(),
                      all.unreported(),
                      all.budgets(),
                      again),
                  state.waiting()),
              decidedAnew::add);
      boolean looked = engine.cycle();
      assertThat(anew.cycle()).isEqualTo(looked);
      assertThat(anew.statistics().backfill()).isEqualTo(engine.statistics().backfill());
      assertThat(plans(anew)).isEqualTo(plans(engine));
      backfilled +=
          (int)
              engine.statistics().backfill().stream()
                  .filter(each -> each.kind().name().equals("BACKFILLED"))
                  .count();
      happened = false;
      return looked;
    }

    /** What is planned, without the numbers of the passes, which differ. */
    private static List<BackfillExport.QueueExport> plans(Engine planning) {
      return planning.export().workloads().backfill().plans().stream()
          .map(
              each ->
                  new BackfillExport.QueueExport(
                      each.clusterQueue(), each.starts(), each.quotas(), each.overtakenIds(), 0))
          .toList();
    }

    /** Compares the first time at which amounts are free with what a look at every end says. */
    private void profiles() {
      PlannedStarts starts = new PlannedStarts();
      bounds.forEach((uid, bound) -> starts.bound(uid, bound, false));
      UnknownRunTime unknown = UnknownRunTime.values()[random.nextInt(3)];
      long now = Instants.micros(START.plusSeconds(second));
      for (String name : QUEUES) {
        ClusterQueueCache queue = engine.registry().cacheOf(name);
        if (queue == null) {
          continue;
        }
        QuotaNode root = queue.node().root();
        RunEnds ends = starts.ends(unknown);
        if (!ends.knows(root)) {
          ends.read(root, engine.registry().queuesBelow(root));
        }
        int[] pairs = queue.pairs();
        long[] amounts = new long[pairs.length];
        for (int i = 0; i < pairs.length; i++) {
          amounts[i] = random.nextInt(8) * 1_000L;
        }
        assertThat(
                new QuotaProfile(
                        queue, QuotaProfile.ofPairs(queue, queue.node()::nominal), ends, now)
                    .firstTime(pairs, amounts))
            .as("%s at %d", name, second)
            .isEqualTo(firstTime(queue, amounts, starts, new BackfillRules(1, unknown), now));
      }
    }

    private record End(ClusterQueueCache queue, QuotaHolder holder, long at) {

      void change(boolean add) {
        for (int i = 0; i < holder.size(); i++) {
          if (add) {
            queue.node().add(holder.pair(i), holder.amount(i));
          } else {
            queue.node().remove(holder.pair(i), holder.amount(i));
          }
        }
      }
    }

    private long firstTime(
        ClusterQueueCache queue,
        long[] amounts,
        PlannedStarts starts,
        BackfillRules rules,
        long now) {
      List<End> all = new ArrayList<>();
      for (ClusterQueueCache each : engine.registry().queuesBelow(queue.node().root())) {
        each.holders()
            .forEach(
                holder -> {
                  long longest = starts.longest(holder.id().uid(), rules);
                  if (longest != QuotaProfile.NEVER) {
                    long end = holder.reservedAtMicros() + longest;
                    all.add(new End(each, holder, end > now ? end : now + 60_000_000));
                  }
                });
      }
      all.sort(Comparator.comparingLong(End::at));
      List<End> gone = new ArrayList<>();
      long first = fits(queue, amounts) ? now : QuotaProfile.NEVER;
      for (int i = 0; i < all.size() && first == QuotaProfile.NEVER; i++) {
        all.get(i).change(false);
        gone.add(all.get(i));
        boolean last = i + 1 == all.size() || all.get(i + 1).at() > all.get(i).at();
        first = last && fits(queue, amounts) ? all.get(i).at() : first;
      }
      gone.reversed().forEach(end -> end.change(true));
      return first;
    }

    private static boolean fits(ClusterQueueCache queue, long[] amounts) {
      for (int i = 0; i < amounts.length; i++) {
        int pair = queue.pairs()[i];
        if (amounts[i] > queue.node().nominal(pair) - queue.node().usage(pair)
            || amounts[i] > queue.node().available(pair)) {
          return false;
        }
      }
      return true;
    }
  }

  @Test
  void plansOfTreesThatAreLeftAloneStayTheSame() {
    int backfilled = 0;
    for (long seed = 0; seed < WORLDS; seed++) {
      World world = new World(seed);
      try {
        for (int i = 0; i < 150; i++) {
          world.step();
        }
      } catch (AssertionError e) {
        throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
      }
      backfilled += world.backfilled;
    }
    assertThat(backfilled).isGreaterThan(20);
  }
}
