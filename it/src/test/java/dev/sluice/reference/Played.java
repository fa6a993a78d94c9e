package dev.sluice.reference;

import dev.sluice.core.engine.CopiedEngine;
import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.engine.SchedulerQueries.BackfillReport;
import dev.sluice.core.engine.SchedulerQueries.PendingReport;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.PlannedStart.BackfillEvent;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.PendingTotals;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** An engine that is compared with the reference. */
interface Played {

  /** Folds a fact in. */
  void fold(SchedulerEvent schedulerEvent);

  /** Runs one cycle; false if there was nothing to look at. */
  boolean cycle();

  /** Whether the last cycle looked at the head of a ClusterQueue. */
  boolean lookedAt(String clusterQueue);

  /** Whether the last cycle looked at any head. */
  boolean evaluated();

  /** When a Workload is planned to start that waits. */
  Optional<PlannedStart> planned(WorkloadId id);

  /** What happened to planned starts in the last cycle. */
  List<BackfillEvent> backfillEvents();

  /** Who has to go for what is kept; nothing if it doesn't say. */
  Optional<Set<ReferenceReservations.Overstay>> overstays();

  /** What was decided since the last call, in order. */
  List<Decided> takeDecided();

  /** What it shows; nothing if it shows nothing. */
  Optional<SchedulerViews> views();

  /** What it counts of pending Workloads, by ClusterQueue; nothing if it shows nothing. */
  default Map<String, PendingTotals> totals() {
    return Map.of();
  }

  private static Optional<PlannedStart> planned(Optional<PendingReport> report) {
    return report.flatMap(PendingReport::backfill).flatMap(BackfillReport::own);
  }

  /** The real one. */
  static Played of(EngineProbe engine) {
    return new Played() {
      @Override
      public void fold(SchedulerEvent schedulerEvent) {
        engine.fold(schedulerEvent);
      }

      @Override
      public boolean cycle() {
        return engine.cycle();
      }

      @Override
      public boolean lookedAt(String clusterQueue) {
        return engine.evaluatedQueues().contains(clusterQueue);
      }

      @Override
      public boolean evaluated() {
        return !engine.evaluatedQueues().isEmpty();
      }

      @Override
      public List<BackfillEvent> backfillEvents() {
        return engine.statistics().backfill();
      }

      @Override
      public Optional<PlannedStart> planned(WorkloadId id) {
        return Played.planned(engine.whyWaiting(id));
      }

      @Override
      public Optional<Set<ReferenceReservations.Overstay>> overstays() {
        return Optional.of(ReferenceReservations.overstays(engine.overstays()));
      }

      @Override
      public List<Decided> takeDecided() {
        return engine.takeDecisions().stream()
            .flatMap(decision -> Decided.of(decision).stream())
            .toList();
      }

      @Override
      public Optional<SchedulerViews> views() {
        return Optional.of(engine.views());
      }

      @Override
      public Map<String, PendingTotals> totals() {
        return engine.pendingTotals();
      }
    };
  }

  /** The real one, beside one that is exported and restored again and again. */
  static Played of(CopiedEngine engine) {
    return new Played() {
      @Override
      public void fold(SchedulerEvent schedulerEvent) {
        engine.fold(schedulerEvent);
      }

      @Override
      public boolean cycle() {
        return engine.cycle();
      }

      @Override
      public boolean lookedAt(String clusterQueue) {
        return engine.evaluatedQueues().contains(clusterQueue);
      }

      @Override
      public boolean evaluated() {
        return !engine.evaluatedQueues().isEmpty();
      }

      @Override
      public List<BackfillEvent> backfillEvents() {
        return engine.statistics().backfill();
      }

      @Override
      public Optional<PlannedStart> planned(WorkloadId id) {
        return Played.planned(engine.whyWaiting(id));
      }

      @Override
      public Optional<Set<ReferenceReservations.Overstay>> overstays() {
        return Optional.of(ReferenceReservations.overstays(engine.overstays()));
      }

      @Override
      public List<Decided> takeDecided() {
        return engine.takeDecisions().stream()
            .flatMap(decision -> Decided.of(decision).stream())
            .toList();
      }

      @Override
      public Optional<SchedulerViews> views() {
        return Optional.of(engine.views());
      }

      @Override
      public Map<String, PendingTotals> totals() {
        return engine.pendingTotals();
      }
    };
  }

  /** A reference, to see whether a comparison compares. */
  static Played of(ReferenceEngine engine) {
    List<Decided> decided = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    return new Played() {
      private boolean evaluated;

      @Override
      public void fold(SchedulerEvent schedulerEvent) {
        engine.fold(schedulerEvent);
        seen.clear();
      }

      @Override
      public boolean cycle() {
        evaluated = seen.add(engine.questions().state());
        if (!evaluated) {
          return false;
        }
        List<Decided> now = engine.cycle();
        if (decided.addAll(now)) {
          seen.clear();
        }
        return true;
      }

      @Override
      public boolean lookedAt(String clusterQueue) {
        return true;
      }

      @Override
      public boolean evaluated() {
        return evaluated;
      }

      @Override
      public List<BackfillEvent> backfillEvents() {
        return List.of();
      }

      @Override
      public Optional<PlannedStart> planned(WorkloadId id) {
        return Optional.empty();
      }

      @Override
      public Optional<Set<ReferenceReservations.Overstay>> overstays() {
        return Optional.empty();
      }

      @Override
      public List<Decided> takeDecided() {
        List<Decided> taken = List.copyOf(decided);
        decided.clear();
        return taken;
      }

      @Override
      public Optional<SchedulerViews> views() {
        return Optional.empty();
      }
    };
  }
}
