package dev.sluice.core.engine;

import dev.sluice.core.engine.QuotaAccounting.Reservation;
import dev.sluice.core.engine.WorkloadEntry.Stage;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.SecondPass;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.scheduling.flavor.SecondPassAssigner;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Workloads with quota that lack places (docs/topology.md#the-second-pass). Places are looked for
 * before the heads of a cycle are. After a failure the search is repeated with a growing backoff.
 */
final class SecondPassQueue {

  /** The backoff after the first failure; it doubles with each further one. */
  private static final Duration BACKOFF = Duration.ofSeconds(1);

  private static final Duration LONGEST_BACKOFF = Duration.ofSeconds(30);

  private final SpecRegistry specRegistry;
  private final QuotaAccounting quotaAccounting;
  private final JobSlices slices;
  private final Consumer<Decision> decisions;
  private final Map<String, PlaceSearch> waiting = new LinkedHashMap<>();

  /** A Workload that lacks places. */
  private static final class PlaceSearch {
    private final WorkloadEntry entry;
    private Instant due;
    private int failures;

    /** Whether places are found, and their write has not been reported yet. */
    private boolean placed;

    PlaceSearch(WorkloadEntry entry, Instant due) {
      this.entry = entry;
      this.due = due;
    }

    void backOff(Instant now) {
      Duration delay = BACKOFF.multipliedBy(1L << Math.min(failures, 5));
      due = now.plus(delay.compareTo(LONGEST_BACKOFF) > 0 ? LONGEST_BACKOFF : delay);
      failures++;
    }
  }

  SecondPassQueue(
      SpecRegistry specRegistry,
      QuotaAccounting quotaAccounting,
      JobSlices slices,
      Consumer<Decision> decisions) {
    this.slices = slices;
    this.specRegistry = specRegistry;
    this.quotaAccounting = quotaAccounting;
    this.decisions = decisions;
  }

  /** The Workloads that lack places, as values. */
  List<EngineState.SecondPassExport> export() {
    return waiting.entrySet().stream()
        .map(
            each ->
                new EngineState.SecondPassExport(
                    each.getKey(),
                    each.getValue().due,
                    each.getValue().failures,
                    each.getValue().placed))
        .toList();
  }

  /** Takes over a Workload that lacks places. */
  void restore(EngineState.SecondPassExport exported, WorkloadEntry entry) {
    PlaceSearch search = new PlaceSearch(entry, exported.due());
    search.failures = exported.failures();
    search.placed = exported.placed();
    waiting.put(exported.uid(), search);
  }

  /** Records what the API server reports: the places that the Workload lacks, or that none lack. */
  void set(WorkloadEntry entry, ReservingWorkload workload, Instant now) {
    if (workload.evicted() || !isNeeded(workload)) {
      remove(entry);
      return;
    }
    ReservingWorkload before = entry.lacking;
    entry.lacking = workload;
    PlaceSearch known = waiting.get(entry.id.uid());
    if (known == null || before == null || !asksTheSame(before, workload)) {
      waiting.put(entry.id.uid(), new PlaceSearch(entry, now));
    } else {
      known.placed = false;
    }
  }

  private boolean isNeeded(ReservingWorkload workload) {
    return workload.secondPass().isPresent()
        && (specRegistry.topologies.options().replacesNodes()
            || workload.podSets().stream()
                .anyMatch(each -> each.topology().delay() == PodSetTopology.Delay.PENDING));
  }

  private static boolean asksTheSame(ReservingWorkload one, ReservingWorkload other) {
    return one.secondPass().equals(other.secondPass()) && one.podSets().equals(other.podSets());
  }

  void remove(WorkloadEntry entry) {
    entry.lacking = null;
    waiting.remove(entry.id.uid());
  }

  /**
   * Records that places were not written: the Workload has those that it had, and tries again.
   *
   * @param moved told of the Workload if its places changed
   */
  void refused(WorkloadId id, Instant now, Consumer<WorkloadEntry> moved) {
    PlaceSearch refused = waiting.get(id.uid());
    ReservingWorkload workload = refused == null ? null : refused.entry.lacking;
    if (refused == null || workload == null) {
      return;
    }
    if (refused.placed) {
      reserve(refused.entry, workload);
      moved.accept(refused.entry);
    }
    refused.placed = false;
    refused.backOff(now);
  }

  /** Whether a search is due. */
  boolean isDue(Instant now) {
    return waiting.values().stream().anyMatch(each -> !each.placed && !each.due.isAfter(now));
  }

  /**
   * Looks for the places that are due.
   *
   * @param moved told of each Workload that got places: its replacement, if there is one, would
   *     otherwise be placed as if it shared the former ones
   */
  void run(Instant now, Consumer<WorkloadEntry> moved) {
    for (PlaceSearch each : waiting.values()) {
      ReservingWorkload workload = each.entry.lacking;
      if (workload != null
          && !each.placed
          && !each.due.isAfter(now)
          && each.entry.stage == Stage.RESERVING
          && each.entry.evictionDecided == WorkloadEntry.NO_VERSION) {
        workload
            .secondPass()
            .ifPresent(
                lacking -> {
                  run(each, workload, lacking, now);
                  if (each.placed) {
                    moved.accept(each.entry);
                  }
                });
      }
    }
  }

  private void run(PlaceSearch each, ReservingWorkload workload, SecondPass lacking, Instant now) {
    List<PodSetAssignment> before = workload.podSets();
    Set<String> lost = lacking.lostNodes();
    List<PodSetAssignment> replaced = slices.sharedBy(each.entry);
    if (!lost.isEmpty() && (!replaced.isEmpty() || slices.passesPlacesOn(each.entry))) {
      // Two slices have these places; the one that stays replaces them when the other one is gone.
      each.backOff(now);
      return;
    }
    switch (SecondPassAssigner.assign(specRegistry.topologies, before, replaced, lacking)) {
      case SecondPassAssigner.Assigned(var podSets) -> {
        each.placed = true;
        reserve(each.entry, workload.with(podSets, Optional.empty()));
        decisions.accept(new PlacementDecision.Place(workload.id(), before, lost, podSets));
      }
      case SecondPassAssigner.Unplaced(var podSet, var shortage) -> {
        each.backOff(now);
        boolean evicts = !lost.isEmpty() && specRegistry.topologies.options().failsFast();
        decisions.accept(
            new PlacementDecision.GiveUp(workload.id(), before, lost, podSet, shortage, evicts));
      }
    }
  }

  private void reserve(WorkloadEntry entry, ReservingWorkload workload) {
    boolean evicting = entry.evictionDecided != WorkloadEntry.NO_VERSION;
    quotaAccounting.set(
        entry,
        Reservation.of(workload, evicting, specRegistry.pairs, specRegistry.topologies),
        false);
  }
}
