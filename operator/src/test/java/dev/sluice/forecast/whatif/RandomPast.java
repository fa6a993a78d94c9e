package dev.sluice.forecast.whatif;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.engine.SchedulerThread.EngineListener;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.play.Play;
import dev.sluice.forecast.play.Play.PlayListener;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** A past of two teams in a cohort, at random: what happened in it is what an engine decided. */
public final class RandomPast {

  /** When it begins. */
  public static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

  static final Duration STOPPING = Duration.ofSeconds(7);

  private final SplittableRandom random;
  private final PreemptionPolicies preemption;
  final Map<WorkloadId, List<Instant>> starts = new LinkedHashMap<>();
  int preemptions;

  /** A past that is recorded by a listener. */
  public RandomPast(long seed, boolean preempting, int jobs, EngineListener listener) {
    random = new SplittableRandom(seed);
    preemption = preempting ? policies() : PreemptionPolicies.NEVER;
    List<Decision> decisions = new ArrayList<>();
    InlineScheduler scheduler = new InlineScheduler(EngineOptions.DEFAULT, decisions::add);
    scheduler.listen(listener);
    scheduler.apply(new SchedulerEvent.TimePassed(BEGIN));
    scheduler.apply(new SchedulerEvent.NamespaceChanged("team", Map.of()));
    scheduler.apply(
        new SchedulerEvent.FlavorChanged(new Flavor("any", Map.of(), List.of(), List.of())));
    for (String name : List.of("a", "b")) {
      scheduler.apply(new SchedulerEvent.ClusterQueueChanged(queue(name, "all", 2 + below(5))));
      scheduler.apply(
          new SchedulerEvent.LocalQueueChanged(
              new LocalQueueSpec(new LocalQueueId("team", name), name, StopPolicy.NONE)));
    }
    scheduler.apply(new SchedulerEvent.DecidingEnabled(true));
    Map<WorkloadId, Duration> lasts = new LinkedHashMap<>();
    Play play =
        new Play(
            new Play.Source(scheduler, decisions),
            BEGIN,
            1,
            (id, run) -> Optional.ofNullable(lasts.get(id)),
            STOPPING,
            new PlayListener() {
              @Override
              public void started(Decision.Admit admission, int run) {
                starts.computeIfAbsent(admission.id(), _ -> new ArrayList<>()).add(admission.at());
              }

              @Override
              public void preempted(WorkloadId id, String reason, Instant at) {
                preemptions++;
              }
            });
    Instant at = BEGIN;
    for (int i = 0; i < jobs; i++) {
      at = at.plusMillis(1 + random.nextLong(120_000));
      PendingWorkload workload = workload(i, at);
      // two things never happen in the same instant: which is first isn't recorded
      lasts.put(
          workload.id(), Duration.ofNanos(1_000_000_000L + random.nextLong(600_000_000_000L)));
      play.arrives(at, workload);
      if (below(12) == 0) {
        play.leaves(at.plusNanos(1 + random.nextLong(300_000_000_000L)), workload.id(), false);
      }
      if (below(20) == 0) {
        play.happens(
            at.plusNanos(1 + random.nextLong(1_000_000)),
            new SchedulerEvent.ClusterQueueChanged(
                queue(below(2) == 0 ? "a" : "b", "all", 2 + below(5))),
            _ -> {});
      }
    }
    play.run(Instant.MAX, () -> false);
    scheduler.apply(new SchedulerEvent.TimePassed(play.now().plusSeconds(1)));
  }

  private int below(int bound) {
    return random.nextInt(bound);
  }

  private PreemptionPolicies policies() {
    return new PreemptionPolicies(
        pick(WithinClusterQueue.values()),
        pick(ReclaimWithinCohort.values()),
        false,
        OptionalInt.empty());
  }

  private <T> T pick(T[] values) {
    return values[below(values.length)];
  }

  ClusterQueueSpec queue(String name, String cohort, int cpus) {
    return queue(name, cohort, cpus, preemption);
  }

  static ClusterQueueSpec queue(
      String name, String cohort, int cpus, PreemptionPolicies preemption) {
    ResourceGroup.Quota quota =
        new ResourceGroup.Quota(
            cpus * 1_000L, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
    return new ClusterQueueSpec(
        name,
        cohort,
        List.of(
            new ResourceGroup(
                List.of("cpu"),
                List.of(new ResourceGroup.FlavorQuotas("any", Map.of("cpu", quota))))),
        QueueingStrategy.BEST_EFFORT_FIFO,
        new LabelSelector.Requirements(List.of()),
        StopPolicy.NONE,
        false,
        preemption,
        FlavorFungibility.DEFAULT,
        BigDecimal.ONE,
        List.of(),
        List.of(),
        false);
  }

  private PendingWorkload workload(int number, Instant at) {
    return new PendingWorkload(
        new WorkloadId("uid-" + number, "team", "job-" + number),
        0,
        below(2) == 0 ? "a" : "b",
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1,
                    0,
                    new TreeMap<>(Map.of("cpu", (1 + below(4)) * 1_000L)),
                    NodeConstraints.ANYWHERE,
                    ""))),
        below(3),
        at,
        at,
        Optional.empty(),
        false,
        Optional.empty());
  }
}
