package dev.sluice.workload.writing;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.PodSetAssignment;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.status.AdmissionPatches;
import dev.sluice.workload.status.DelayedTopology;
import dev.sluice.workload.status.NodeFailures;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import dev.sluice.workload.writing.WorkloadWriter.Urgency;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the results of second passes (docs/topology.md#the-second-pass). A Workload that has only
 * changed meanwhile is still written, if its places are those that the decision was based on.
 */
final class PlacementWriter {

  private static final Logger LOG = LoggerFactory.getLogger(PlacementWriter.class);
  private static final int ATTEMPTS = 5;

  private final WorkloadLister store;
  private final WorkloadWriter writer;
  private final SchedulerEventSink engine;
  private final AdmissionObserver observer;
  private final InstantSource clock;
  private final Executor executor;
  private final NewerVersionWaiter newerVersions;

  PlacementWriter(
      WorkloadLister store,
      WorkloadWriter writer,
      SchedulerEventSink engine,
      AdmissionObserver observer,
      InstantSource clock,
      Executor executor,
      NewerVersionWaiter newerVersions) {
    this.store = store;
    this.writer = writer;
    this.engine = engine;
    this.observer = observer;
    this.clock = clock;
    this.executor = executor;
    this.newerVersions = newerVersions;
  }

  /** Writes the decision, and reports to the engine if that is impossible. */
  void write(PlacementDecision decision) {
    if (decision instanceof PlacementDecision.GiveUp failure) {
      observer.unplaced(failure);
      if (!failure.evicts()) {
        return;
      }
    }
    write(decision, ATTEMPTS);
  }

  private void write(PlacementDecision decision, int attempts) {
    Optional<CachedWorkload> found =
        store
            .get(decision.id().namespace(), decision.id().name())
            .filter(workload -> workload.id().equals(decision.id()))
            .filter(workload -> isBasis(workload, decision));
    if (found.isEmpty() || attempts == 0) {
      engine.submit(new SchedulerEvent.PlacementRefused(decision.id()));
      return;
    }
    CachedWorkload workload = found.get();
    ObjectNode status =
        switch (decision) {
          case PlacementDecision.Place place -> AdmissionPatches.placed(workload, place);
          case PlacementDecision.GiveUp failure ->
              NodeFailures.evicted(workload, message(failure), clock.instant());
        };
    var unused =
        writer
            .patchStatus(workload.id(), workload.version(), status, Urgency.DECISION)
            .whenCompleteAsync(
                (outcome, bug) -> {
                  if (bug == null && outcome instanceof Outcome.Written) {
                    written(decision, workload);
                  } else if (bug == null && outcome instanceof Outcome.Conflict) {
                    newerVersions
                        .after(workload.id(), workload.version())
                        .thenRunAsync(() -> write(decision, attempts - 1), executor);
                  } else {
                    LOG.warn("workload={} placed=failed outcome={}", decision.id(), outcome, bug);
                    engine.submit(new SchedulerEvent.PlacementRefused(decision.id()));
                  }
                },
                executor);
  }

  private void written(PlacementDecision decision, CachedWorkload before) {
    switch (decision) {
      case PlacementDecision.Place place -> observer.placed(place);
      case PlacementDecision.GiveUp failure -> observer.nodesFailed(before, message(failure));
    }
  }

  private static String message(PlacementDecision.GiveUp failure) {
    return "No replacement was found for the failed node "
        + String.join(", ", failure.lostNodes().stream().sorted().toList());
  }

  /** Whether the Workload lacks the places that the decision is about. */
  private static boolean isBasis(CachedWorkload workload, PlacementDecision decision) {
    List<CachedWorkload.Assignment> assignments = workload.assignments();
    if (!workload.quotaReserved()
        || workload.evicted()
        || workload.finished()
        || assignments.size() != decision.before().size()
        || !new HashSet<>(workload.status().unhealthyNodes()).containsAll(decision.lostNodes())) {
      return false;
    }
    for (int i = 0; i < assignments.size(); i++) {
      PodSetAssignment before = decision.before().get(i);
      Optional<TopologyAssignment> places = assignments.get(i).topology();
      if (!assignments.get(i).name().equals(before.name())
          || !places.equals(before.topology().assignment())
          || DelayedTopology.of(assignments.get(i).delayedTopology())
              != before.topology().delay()) {
        return false;
      }
    }
    return true;
  }
}
