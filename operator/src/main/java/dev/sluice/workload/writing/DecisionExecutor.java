package dev.sluice.workload.writing;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.status.CheckStates;
import dev.sluice.workload.status.CheckpointRequest;
import dev.sluice.workload.status.DelayedTopology;
import dev.sluice.workload.status.Preemptions;
import dev.sluice.workload.status.StatusPatch;
import dev.sluice.workload.status.StatusPatch.AdmissionPatches;
import dev.sluice.workload.status.StatusPatch.NodeFailures;
import dev.sluice.workload.status.StatusPatch.RequiredChecks;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import dev.sluice.workload.writing.WorkloadWriter.Urgency;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
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
  private final NewerVersionWaiter newerVersions;
  private final FirstNomination nomination;
  private final PreemptionWriter preemptions = new PreemptionWriter();
  private final PlacementWriter placements = new PlacementWriter();

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
    this.newerVersions = newerVersions;
  }

  @Override
  public void accept(Decision decision) {
    switch (decision) {
      case Decision.Admit admit -> executor.execute(() -> admit(admit));
      case Decision.Preempt preempt -> executor.execute(() -> preemptions.preempt(preempt));
      case PlacementDecision placement -> executor.execute(() -> placements.write(placement));
    }
  }

  /** The engine counts the quota until it hears of an end, so that it hears of each. */
  private void admit(Decision.Admit decision) {
    try {
      write(decision);
    } catch (RuntimeException e) {
      LOG.error("workload={} admission=failed", decision.id(), e);
      refuse(decision, false);
    }
  }

  private void write(Decision.Admit decision) {
    Optional<CachedWorkload> found = evaluated(store, decision.id(), decision.version());
    if (found.isEmpty()) {
      engine.submit(new SchedulerEvent.AdmissionRefused(decision.id(), decision.version(), true));
      return;
    }
    CachedWorkload workload = found.get();
    Instant now = clock.instant();
    List<CheckState> checks = AdmissionPatches.checks(workload, decision, required, now);
    Optional<String> lackOfRoom = CheckStates.lackOfRoom(checks);
    if (lackOfRoom.isPresent()) {
      keepOut(decision, workload, lackOfRoom.get());
      return;
    }
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

  /** Says at the Workload why it isn't admitted, and has the engine try again later. */
  private void keepOut(Decision.Admit decision, CachedWorkload workload, String message) {
    LOG.warn(
        "workload={} admission=refused clusterQueue={} reason=\"{}\"",
        decision.id(),
        decision.clusterQueue(),
        message);
    ObjectNode status =
        StatusPatch.of(workload, clock.instant()).dropReservation("Misconfigured", message).build();
    if (status.isEmpty()) {
      refuse(decision, false);
      return;
    }
    var unused =
        writer
            .patchStatus(workload.id(), decision.version(), status, Urgency.DECISION)
            .whenComplete(
                (outcome, bug) ->
                    refuse(decision, bug == null && !(outcome instanceof Outcome.Refused)));
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
  private final class PlacementWriter {

    private static final Logger LOG = LoggerFactory.getLogger(PlacementWriter.class);
    private static final int ATTEMPTS = 5;

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

    /** The engine waits for the places until it hears of an end, so that it hears of each. */
    private void write(PlacementDecision decision, int attempts) {
      try {
        attempt(decision, attempts);
      } catch (RuntimeException e) {
        LOG.error("workload={} placed=failed", decision.id(), e);
        engine.submit(new SchedulerEvent.PlacementRefused(decision.id()));
      }
    }

    private void attempt(PlacementDecision decision, int attempts) {
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

  /**
   * Evicts the targets of preemptions, each with one write, and reports to the engine the ones that
   * could not be evicted. A target that has only changed meanwhile is still evicted, because its
   * reservation is what matters. Where a rule gives a target time for a checkpoint, its job is
   * asked first, and the target is evicted when the job has answered or the time is over; it keeps
   * its quota if the preemptor doesn't wait any more by then.
   */
  private final class PreemptionWriter {

    private static final Logger LOG = LoggerFactory.getLogger(PreemptionWriter.class);
    private static final Logger DECISIONS = LoggerFactory.getLogger(DecisionLog.NAME);
    private static final int AT_A_TIME = 8;
    private static final int ATTEMPTS = 5;

    /**
     * Evicts the targets, at most eight at a time; evicts none if the preemptor is not pending any
     * more.
     */
    void preempt(Decision.Preempt decision) {
      Optional<CachedWorkload> preemptor = preemptor(decision);
      if (preemptor.isEmpty()) {
        decision.targets().forEach(this::refuse);
        return;
      }
      DECISIONS.info(
          "workload={} preempts={} clusterQueue={} priority={}",
          decision.id(),
          decision.targets().size(),
          decision.clusterQueue(),
          decision.priority());
      Round round =
          new Round(decision, preemptor.get().labels().getOrDefault(KueueConstants.JOB_UID, ""));
      for (int lane = 0; lane < AT_A_TIME; lane++) {
        round.next();
      }
    }

    private Optional<CachedWorkload> preemptor(Decision.Preempt decision) {
      return store
          .get(decision.id().namespace(), decision.id().name())
          .filter(found -> found.id().equals(decision.id()))
          .filter(PreemptionWriter::waits);
    }

    private static boolean waits(CachedWorkload workload) {
      return !workload.deleting()
          && !workload.finished()
          && !workload.quotaReserved()
          && workload.spec().active();
    }

    private void refuse(Decision.Target target) {
      engine.submit(new SchedulerEvent.EvictionRefused(target.id(), target.version()));
    }

    /** The targets of one decision that are not processed yet. */
    private final class Round {

      private final Decision.Preempt decision;
      private final String jobUid;
      private final Queue<Decision.Target> left;

      Round(Decision.Preempt decision, String jobUid) {
        this.decision = decision;
        this.jobUid = jobUid;
        this.left = new ConcurrentLinkedQueue<>(decision.targets());
      }

      void next() {
        Decision.Target target = left.poll();
        if (target != null) {
          evict(target, ATTEMPTS);
        }
      }

      private void evict(Decision.Target target, int attempts) {
        attempt(target, () -> evictOrAsk(target, attempts));
      }

      /** A target counts as leaving until the engine hears of an end, so that it hears of each. */
      private void attempt(Decision.Target target, Runnable step) {
        try {
          step.run();
        } catch (RuntimeException e) {
          LOG.error("workload={} evicted=failed preemptor={}", target.id(), decision.id(), e);
          refuseLater(target, target.version());
          executor.execute(this::next);
        }
      }

      private void evictOrAsk(Decision.Target target, int attempts) {
        Optional<CachedWorkload> found =
            store
                .get(target.id().namespace(), target.id().name())
                .filter(workload -> workload.id().equals(target.id()))
                .filter(workload -> !workload.finished())
                .filter(
                    workload ->
                        workload.quotaReserved()
                            ? !workload.evicted()
                            : isBeingAdmitted(workload, target));
        if (found.isEmpty() || attempts == 0) {
          refuse(target);
          executor.execute(this::next);
        } else if (found.get().quotaReserved()) {
          Duration grace = target.rules().checkpointGrace().orElse(Duration.ZERO);
          if (grace.isPositive()) {
            checkpoint(target, found.get(), grace, attempts);
          } else {
            evict(target, found.get(), attempts);
          }
        } else {
          evictNewerVersion(target, found.get(), attempts);
        }
      }

      /** Asks for a checkpoint, waits for it, or evicts; others needn't wait meanwhile. */
      private void checkpoint(
          Decision.Target target, CachedWorkload workload, Duration grace, int attempts) {
        Instant now = clock.instant();
        switch (CheckpointRequest.reply(workload, grace, now)) {
          case ANSWERED, OVER -> evict(target, workload, attempts);
          case NOT_ASKED -> {
            executor.execute(this::next);
            ask(target, workload, grace, attempts);
          }
          case AWAITED -> {
            executor.execute(this::next);
            awaitCheckpoint(target, workload, grace);
          }
        }
      }

      private void ask(
          Decision.Target target, CachedWorkload workload, Duration grace, int attempts) {
        var unused =
            writer
                .patch(workload.id(), workload.version(), CheckpointRequest.asking(clock.instant()))
                .whenCompleteAsync(
                    (outcome, bug) ->
                        attempt(
                            target, () -> asked(target, workload, grace, attempts, outcome, bug)),
                    executor);
      }

      private void asked(
          Decision.Target target,
          CachedWorkload workload,
          Duration grace,
          int attempts,
          Outcome outcome,
          @Nullable Throwable bug) {
        if (bug == null && outcome instanceof Outcome.Written(long written)) {
          observer.checkpointRequested(decision, target, grace);
          evictNewerVersion(target, workload, ATTEMPTS);
        } else if (bug == null && outcome instanceof Outcome.Conflict) {
          evictNewerVersion(target, workload, attempts - 1);
        } else if (bug == null && isRefusedForGood(outcome)) {
          // Such as annotations that leave no room for one more: they protect nobody.
          evict(target, workload, attempts);
        } else {
          ended(target, workload, "", outcome, bug);
        }
      }

      private static boolean isRefusedForGood(Outcome outcome) {
        return outcome instanceof Outcome.Refused(int code, String _)
            && code < HttpURLConnection.HTTP_INTERNAL_ERROR;
      }

      /** Looks again when the target or the preemptor changes, or is gone, or the grace is over. */
      private void awaitCheckpoint(
          Decision.Target target, CachedWorkload workload, Duration grace) {
        Instant end = CheckpointRequest.of(workload).orElseThrow().plus(grace);
        Duration most = Duration.between(clock.instant(), end).plusMillis(1);
        CompletableFuture<Void> answer =
            newerVersions.after(workload.id(), workload.version(), most);
        var unused =
            preemptor(decision)
                .map(waiting -> newerVersions.after(decision.id(), waiting.version(), most))
                .map(news -> answer.applyToEither(news, none -> none))
                .orElseGet(() -> CompletableFuture.completedFuture(null))
                .thenRunAsync(
                    () -> {
                      if (preemptor(decision).isPresent()) {
                        evict(target, ATTEMPTS);
                      } else {
                        attempt(target, () -> withdraw(target));
                      }
                    },
                    executor);
      }

      /** Nobody needs the quota any more: the job needn't save its work. */
      private void withdraw(Decision.Target target) {
        Optional<CachedWorkload> found =
            store.get(target.id()).filter(workload -> !workload.evicted());
        if (found.isEmpty()) {
          refuse(target);
          return;
        }
        var unused =
            writer
                .patch(target.id(), 0, CheckpointRequest.withdrawing())
                .whenCompleteAsync((outcome, bug) -> refuse(target), executor);
      }

      /** Whether the admission that was decided on this version is still being written. */
      private static boolean isBeingAdmitted(CachedWorkload workload, Decision.Target target) {
        return workload.version() <= target.version();
      }

      private void evictNewerVersion(Decision.Target target, CachedWorkload seen, int attempts) {
        var unused =
            newerVersions
                .after(seen.id(), seen.version())
                .thenRunAsync(() -> evict(target, attempts - 1), executor);
      }

      private void evict(Decision.Target target, CachedWorkload workload, int attempts) {
        String message = Preemptions.message(decision, target, jobUid);
        var unused =
            writer
                .patchStatus(
                    workload.id(),
                    workload.version(),
                    Preemptions.evicted(workload, target, message, clock.instant()),
                    Urgency.DECISION)
                .whenCompleteAsync(
                    (outcome, bug) -> {
                      if (bug == null && outcome instanceof Outcome.Conflict) {
                        evictNewerVersion(target, workload, attempts);
                      } else {
                        try {
                          ended(target, workload, message, outcome, bug);
                        } finally {
                          next();
                        }
                      }
                    },
                    executor);
      }

      private void ended(
          Decision.Target target,
          CachedWorkload before,
          String message,
          Outcome outcome,
          @Nullable Throwable bug) {
        if (bug == null && outcome instanceof Outcome.Written) {
          observer.preempted(decision, target, before, message);
          return;
        }
        if (bug != null) {
          LOG.error("workload={} evicted=failed preemptor={}", target.id(), decision.id(), bug);
        } else if (outcome instanceof Outcome.Refused(int code, String reason)) {
          LOG.warn(
              "workload={} evicted=refused preemptor={} code={} reason=\"{}\"",
              target.id(),
              decision.id(),
              code,
              reason);
        }
        refuseLater(target, before.version());
      }

      /** Waits before reporting the failure: an immediate new decision would fail again. */
      private void refuseLater(Decision.Target target, long version) {
        var unused =
            newerVersions.after(target.id(), version).thenRunAsync(() -> refuse(target), executor);
      }
    }
  }

  /** The logger of decisions about Workloads, which can be turned off alone. */
  public static final class DecisionLog {

    /**
     * Name of the logger of what was decided about single Workloads: quota reserved, preempted,
     * evicted, why they wait.
     */
    public static final String NAME = "dev.sluice.decisions";

    private DecisionLog() {}
  }

  /**
   * Worker clusters that a Workload is nominated for, or bound to, in the write that reserves its
   * quota, so that no second write is needed for it. Called by any thread.
   */
  @FunctionalInterface
  public interface FirstNomination {

    /**
     * The worker clusters of a Workload.
     *
     * @param bound the cluster that it is bound to before any worker has admitted it: the
     *     replacement of a slice of an elastic job stays where the job runs
     * @param nominated the clusters that are asked; empty if they are nominated later, or never,
     *     and if the Workload is bound to one
     */
    record Clusters(Optional<String> bound, List<String> nominated) {

      /** No cluster. */
      public static final Clusters NONE = new Clusters(Optional.empty(), List.of());

      /** Copies the list. */
      public Clusters {
        nominated = List.copyOf(nominated);
      }
    }

    /** Nominates none. */
    FirstNomination NONE = (workload, checks) -> Clusters.NONE;

    /**
     * The worker clusters of a Workload with admission checks.
     *
     * @param checks the states of the admission checks after the write
     */
    Clusters of(CachedWorkload workload, List<CheckState> checks);
  }
}
