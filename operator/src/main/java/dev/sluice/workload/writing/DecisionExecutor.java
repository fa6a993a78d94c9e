package dev.sluice.workload.writing;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.PodSetAssignment;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.status.AdmissionPatches;
import dev.sluice.workload.status.CheckStates;
import dev.sluice.workload.status.DelayedTopology;
import dev.sluice.workload.status.NodeFailures;
import dev.sluice.workload.status.RequiredChecks;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import dev.sluice.workload.writing.WorkloadWriter.Urgency;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out decisions of the engine, with one write for each Workload, and reports the results to
 * the engine. Never blocks the engine.
 */
public final class DecisionExecutor implements Consumer<Decision> {

  private static final Logger LOG = LoggerFactory.getLogger(DecisionExecutor.class);

  private final WorkloadLister store;
  private final WorkloadWriter writer;
  private final SchedulerEventSink engine;
  private final RequiredChecks required;
  private final boolean readiness;
  private final AdmissionObserver observer;
  private final InstantSource clock;
  private final Executor executor;
  private final FirstNomination nomination;
  private final PreemptionWriter preemptions;
  private final PlacementWriter placements;

  /**
   * Creates an executor that reads Workloads from {@code store} and writes with {@code writer}.
   *
   * @param required the required admission checks of queues
   * @param readiness whether admission waits for ready pods
   * @param observer listener for successful writes
   * @param executor runs the work outside the engine's thread
   * @param newerVersions waits for newer versions of a Workload
   */
  public DecisionExecutor(
      WorkloadLister store,
      WorkloadWriter writer,
      SchedulerEventSink engine,
      RequiredChecks required,
      boolean readiness,
      AdmissionObserver observer,
      InstantSource clock,
      Executor executor,
      NewerVersionWaiter newerVersions) {
    this(
        store,
        writer,
        engine,
        required,
        readiness,
        observer,
        clock,
        executor,
        newerVersions,
        FirstNomination.NONE);
  }

  /**
   * The same with worker clusters.
   *
   * @param nomination the worker clusters that a Workload is nominated for with its quota
   */
  public DecisionExecutor(
      WorkloadLister store,
      WorkloadWriter writer,
      SchedulerEventSink engine,
      RequiredChecks required,
      boolean readiness,
      AdmissionObserver observer,
      InstantSource clock,
      Executor executor,
      NewerVersionWaiter newerVersions,
      FirstNomination nomination) {
    this.nomination = nomination;
    this.store = store;
    this.writer = writer;
    this.engine = engine;
    this.required = required;
    this.readiness = readiness;
    this.observer = observer;
    this.clock = clock;
    this.executor = executor;
    this.preemptions =
        new PreemptionWriter(store, writer, engine, observer, clock, executor, newerVersions);
    this.placements =
        new PlacementWriter(store, writer, engine, observer, clock, executor, newerVersions);
  }

  @Override
  public void accept(Decision decision) {
    switch (decision) {
      case Decision.Admit admit -> executor.execute(() -> admit(admit));
      case Decision.Preempt preempt -> executor.execute(() -> preemptions.preempt(preempt));
      case PlacementDecision placement -> executor.execute(() -> placements.write(placement));
    }
  }

  private void admit(Decision.Admit decision) {
    Optional<CachedWorkload> found = evaluated(store, decision.id(), decision.version());
    if (found.isEmpty()) {
      engine.submit(new SchedulerEvent.AdmissionRefused(decision.id(), decision.version(), true));
      return;
    }
    CachedWorkload workload = found.get();
    Instant now = clock.instant();
    List<CheckState> checks = AdmissionPatches.checks(workload, decision, required, now);
    ObjectNode status = AdmissionPatches.admitted(workload, decision, checks, readiness, now);
    FirstNomination.Clusters clusters =
        checks.isEmpty() ? FirstNomination.Clusters.NONE : nomination.of(workload, checks);
    clusters.bound().ifPresent(name -> status.put("clusterName", name));
    if (!clusters.nominated().isEmpty()) {
      ArrayNode names = status.putArray("nominatedClusterNames");
      clusters.nominated().forEach(names::add);
    }
    CompletableFuture<Outcome> write =
        writer.patchStatus(workload.id(), decision.version(), status, Urgency.DECISION);
    var unused =
        write.whenComplete(
            (outcome, bug) -> {
              if (bug == null) {
                report(
                    decision,
                    workload,
                    CheckStates.allReady(checks) && !AdmissionPatches.isDelayed(decision),
                    outcome);
              } else {
                LOG.error("workload={} admission=failed", decision.id(), bug);
                refuse(decision, false);
              }
            });
  }

  /**
   * The Workload in the version that the decision was based on, if that is still the newest known
   * version.
   */
  static Optional<CachedWorkload> evaluated(WorkloadLister store, WorkloadId id, long version) {
    return store.get(id).filter(workload -> workload.version() == version);
  }

  private void report(
      Decision.Admit decision, CachedWorkload before, boolean admitted, Outcome outcome) {
    switch (outcome) {
      case Outcome.Written(long version) -> {
        engine.submit(new SchedulerEvent.AdmissionWritten(decision.id(), version, admitted));
        observer.reserved(decision, before, admitted);
      }
      case Outcome.Conflict() -> refuse(decision, true);
      case Outcome.Gone() -> refuse(decision, true);
      case Outcome.Refused(int code, String message) -> {
        LOG.warn(
            "workload={} admission=refused clusterQueue={} code={} reason=\"{}\"",
            decision.id(),
            decision.clusterQueue(),
            code,
            message);
        refuse(decision, false);
      }
    }
  }

  private void refuse(Decision.Admit decision, boolean superseded) {
    engine.submit(
        new SchedulerEvent.AdmissionRefused(decision.id(), decision.version(), superseded));
  }

  /**
   * Writes the results of second passes (docs/topology.md#the-second-pass). A Workload that has
   * only changed meanwhile is still written, if its places are those that the decision was based
   * on.
   */
  private static final class PlacementWriter {

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
}
