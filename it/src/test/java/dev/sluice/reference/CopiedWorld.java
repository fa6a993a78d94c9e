package dev.sluice.reference;

import dev.sluice.core.engine.CopiedEngine;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.PreemptionProtection.PreemptionHistory;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.SecondPass;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A world that no reference plays: LocalQueues are ordered by their usage over time, and Workloads
 * with quota lack places, which are found in a second pass.
 */
final class CopiedWorld {

  private static final int ENDLESS = 60;

  /** A Workload with quota. */
  private static final class Holder {
    private final String clusterQueue;
    private final Instant reservedAt;
    private List<PodSetAssignment> podSets;
    private Set<String> lost = Set.of();
    private boolean written;
    private boolean admitted;
    private boolean ready;
    private boolean evicted;
    private long version;

    Holder(Decision.Admit admit) {
      this.clusterQueue = admit.clusterQueue();
      this.reservedAt = admit.at();
      this.podSets = admit.podSets();
      this.version = admit.version();
    }
  }

  private final CopiedEngine engine;
  private final Dice dice;
  private final Map<String, PendingWorkload> known = new HashMap<>();
  private final Map<String, Holder> holders = new LinkedHashMap<>();
  private final List<PlacementDecision> placements = new ArrayList<>();
  private Instant now = Stage.START;
  private long version = 1;
  private int placed;
  private int admissions;

  CopiedWorld(CopiedEngine engine, long seed) {
    this.engine = engine;
    this.dice = new Dice(seed);
    engine.fold(new SchedulerEvent.TimePassed(now));
    engine.fold(new SchedulerEvent.DecidingEnabled(true));
  }

  /** How many decisions on places of a second pass were made. */
  int placed() {
    return placed;
  }

  int admissions() {
    return admissions;
  }

  void play(List<Step> steps) {
    steps.forEach(this::play);
    settle();
  }

  private void play(Step step) {
    switch (step) {
      case Step.Declare(var schedulerEvent) -> engine.fold(withUsage(schedulerEvent));
      case Step.Submit submit -> {
        String uid = "uid-" + submit.number();
        if (!holders.containsKey(uid)) {
          pending(
              submit.asked(uid, known.get(uid), version, now, Stage.isAttended(submit.number())));
        }
      }
      case Step.Touch(var number) -> touch("uid-" + number);
      case Step.Echo(var number, var older) -> usageReported(number);
      case Step.Release(var number) -> release("uid-" + number);
      case Step.Finish(var nth) -> pick(nth).ifPresent(this::release);
      case Step.Evict(var nth) -> pick(nth).ifPresent(this::requeue);
      case Step.Leave(var nth) ->
          pick(nth).filter(uid -> holder(uid).evicted).ifPresent(this::requeue);
      case Step.Answer(var nth, var end) -> pick(nth).ifPresent(uid -> answer(uid, end));
      case Step.AnswerEviction(var nth, var end) -> pick(nth).ifPresent(this::refuseEviction);
      case Step.Shrink(var nth) -> pick(nth).ifPresent(this::loseNode);
      case Step.PodsReady(var nth, var ready) ->
          pick(nth)
              .ifPresent(
                  uid -> {
                    holder(uid).ready = ready;
                    reserving(uid);
                  });
      case Step.Gate(var number, var closed) -> {
        PendingWorkload workload = known.get("uid-" + number);
        if (workload != null && !holders.containsKey("uid-" + number)) {
          pending(Stage.withGate(Stage.withVersion(workload, version), closed));
        }
      }
      case Step.Deciding(var enabled) ->
          engine.fold(new SchedulerEvent.DecidingEnabled(enabled || dice.chance(70)));
      case Step.Pass(var seconds) -> {
        now = now.plusSeconds(seconds);
        engine.fold(new SchedulerEvent.TimePassed(now));
      }
      case Step.Cycle() -> cycle();
      case Step.Quiesce() -> settle();
      default -> answerPlacement();
    }
  }

  /** Every other queue is ordered by usage; what is declared again changes that. */
  private SchedulerEvent withUsage(SchedulerEvent schedulerEvent) {
    return switch (schedulerEvent) {
      case SchedulerEvent.ClusterQueueChanged(var spec) ->
          new SchedulerEvent.ClusterQueueChanged(
              new ClusterQueueSpec(
                  spec.name(),
                  spec.cohort(),
                  spec.groups(),
                  spec.strategy(),
                  spec.namespaceSelector(),
                  spec.stopPolicy(),
                  spec.terminating(),
                  spec.preemption(),
                  spec.fungibility(),
                  spec.fairWeight(),
                  spec.admissionChecks(),
                  spec.problems(),
                  spec.ignoresUndeclared(),
                  dice.chance(60),
                  spec.rules().withBackfill(backfill()),
                  dice.chance(30) ? Set.of("f-0", "f-1") : spec.delaysTopologyOf()));
      case SchedulerEvent.LocalQueueChanged(var spec) ->
          new SchedulerEvent.LocalQueueChanged(
              new LocalQueueSpec(
                  spec.id(),
                  spec.clusterQueue(),
                  spec.stopPolicy(),
                  dice.pick(new Double[] {0.0, 0.5, 1.0, 1.0, 2.0}),
                  spec.maxWorkloads()));
      default -> schedulerEvent;
    };
  }

  /** Half of the queues have back-fill, which matters where they are StrictFIFO. */
  private Optional<BackfillRules> backfill() {
    return dice.chanceOfHalf()
        ? Optional.of(
            new BackfillRules(1 + dice.below(3), dice.pick(BackfillRules.UnknownRunTime.values())))
        : Optional.empty();
  }

  private void usageReported(int number) {
    engine.fold(
        new SchedulerEvent.LocalQueueUsed(
            new LocalQueueId("ns-" + number % 2, "lq-" + number % 3),
            Map.of("cpu", dice.below(100) / 10.0),
            now.minusSeconds(dice.below(100))));
  }

  private void touch(String uid) {
    PendingWorkload workload = known.get(uid);
    if (workload != null && !holders.containsKey(uid)) {
      pending(Stage.withVersion(workload, version));
    }
  }

  private Holder holder(String uid) {
    return Objects.requireNonNull(holders.get(uid));
  }

  private Optional<String> pick(int nth) {
    List<String> all = List.copyOf(holders.keySet());
    return all.isEmpty() ? Optional.empty() : Optional.of(all.get(nth % all.size()));
  }

  private void settle() {
    for (int i = 0; i < ENDLESS && cycle(); i++) {
      for (String uid : List.copyOf(holders.keySet())) {
        Holder holder = holder(uid);
        if (holder.evicted) {
          requeue(uid);
        } else if (!holder.written) {
          answer(uid, Step.End.WRITTEN);
        }
      }
      answerPlacement();
    }
  }

  private boolean cycle() {
    boolean looked = engine.cycle();
    engine.takeDecisions().forEach(this::carryOut);
    return looked;
  }

  private void carryOut(Decision decision) {
    switch (decision) {
      case Decision.Admit admit -> {
        admissions++;
        holders.put(admit.id().uid(), new Holder(admit));
      }
      case Decision.Preempt preempt ->
          preempt
              .targets()
              .forEach(
                  target -> {
                    Holder holder = holder(target.id().uid());
                    holder.evicted = true;
                    holder.version = target.version();
                  });
      case PlacementDecision placement -> {
        placed++;
        placements.add(placement);
      }
    }
  }

  private void answer(String uid, Step.End end) {
    Holder holder = holder(uid);
    PendingWorkload workload = known.get(uid);
    if (workload == null) {
      return;
    }
    if (holder.written) {
      holder.admitted = true;
      reserving(uid);
    } else if (end == Step.End.REFUSED || end == Step.End.SUPERSEDED) {
      holders.remove(uid);
      engine.fold(
          new SchedulerEvent.AdmissionRefused(
              workload.id(), workload.version(), end == Step.End.SUPERSEDED));
    } else {
      holder.written = true;
      holder.admitted = dice.chanceOfHalf();
      engine.fold(new SchedulerEvent.AdmissionWritten(workload.id(), version++, holder.admitted));
      if (end != Step.End.WRITTEN) {
        reserving(uid);
      }
    }
  }

  private void refuseEviction(String uid) {
    Holder holder = holder(uid);
    if (holder.evicted && known.containsKey(uid)) {
      holder.evicted = false;
      engine.fold(new SchedulerEvent.EvictionRefused(known.get(uid).id(), holder.version));
    }
  }

  /** One of the nodes that a Workload has is lost. */
  private void loseNode(String uid) {
    Holder holder = holder(uid);
    Set<String> nodes = new TreeSet<>();
    for (PodSetAssignment podSet : holder.podSets) {
      podSet
          .topology()
          .assignment()
          .map(TopologyAssignment::domains)
          .orElse(List.of())
          .forEach(domain -> nodes.add(domain.values().getLast()));
    }
    holder.written = true;
    holder.admitted = true;
    holder.lost = nodes.isEmpty() ? Set.of() : Set.of(nodes.iterator().next());
    reserving(uid);
  }

  private void answerPlacement() {
    if (placements.isEmpty()) {
      return;
    }
    PlacementDecision placement = placements.removeFirst();
    String uid = placement.id().uid();
    Holder holder = holders.get(uid);
    if (holder == null) {
      return;
    }
    switch (placement) {
      case PlacementDecision.Place place when dice.chance(70) -> {
        holder.podSets = place.podSets();
        holder.lost = Set.of();
        reserving(uid);
      }
      case PlacementDecision.GiveUp giveUp when giveUp.evicts() -> requeue(uid);
      default -> engine.fold(new SchedulerEvent.PlacementRefused(placement.id()));
    }
  }

  private void reserving(String uid) {
    Holder holder = holder(uid);
    PendingWorkload workload = known.get(uid);
    if (workload == null) {
      return;
    }
    holder.written = true;
    boolean lacks =
        !holder.lost.isEmpty()
            || holder.podSets.stream()
                .anyMatch(each -> each.topology().delay() == PodSetTopology.Delay.PENDING);
    engine.fold(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                workload.id(),
                version++,
                workload.queueName(),
                holder.clusterQueue,
                holder.podSets,
                workload.priority(),
                workload.queuedAt(),
                holder.evicted && dice.chanceOfHalf(),
                holder.admitted,
                holder.ready,
                holder.reservedAt,
                workload.evictable(),
                workload.shape().guaranteed(),
                workload.shape().slice(),
                lacks
                    ? Optional.of(new SecondPass(workload.shape().podSets(), holder.lost))
                    : Optional.empty(),
                new PreemptionProtection(
                    workload.shape().preemption(),
                    new PreemptionHistory(
                        dice.chanceOfHalf() ? Optional.of(now) : Optional.empty(),
                        workload.history().preemptedAt(),
                        dice.chance(20) ? Optional.of(now) : Optional.empty())))));
  }

  private void requeue(String uid) {
    PendingWorkload before = known.get(uid);
    if (before != null && holders.remove(uid) != null) {
      pending(Stage.withVersion(RandomRules.preempted(before, now), version));
    }
  }

  private void pending(PendingWorkload workload) {
    version++;
    known.put(workload.id().uid(), workload);
    if (dice.chance(80)) {
      engine.fold(
          new SchedulerEvent.RunBounded(
              workload.id(), RunBound.of(Duration.ofSeconds(1 + dice.below(600)))));
    }
    engine.fold(new SchedulerEvent.WorkloadPending(workload));
  }

  private void release(String uid) {
    PendingWorkload before = known.remove(uid);
    holders.remove(uid);
    if (before != null) {
      engine.fold(new SchedulerEvent.WorkloadReleased(before.id(), version++));
    }
  }
}
