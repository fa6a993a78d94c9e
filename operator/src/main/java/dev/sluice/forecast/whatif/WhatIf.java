package dev.sluice.forecast.whatif;

import dev.sluice.core.engine.EngineListener;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.engine.WorkloadExport;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.PendingQueueExport.ClassExport;
import dev.sluice.forecast.play.Play;
import dev.sluice.forecast.play.PlayListener;
import dev.sluice.forecast.whatif.PlayInput.Happening;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Plays the same work under one set of rules or another (docs/what-if.md). */
public final class WhatIf {

  /**
   * A play.
   *
   * @param outcome the figures
   * @param starts when each Workload was admitted, in order
   */
  public record Played(PlayOutcome outcome, Map<WorkloadId, List<Instant>> starts) {}

  private final PlayInput playInput;
  private final List<SchedulerEvent> changes;
  private final List<Happening.DeclarationEvent> later;
  private final EngineListener engineListener;

  private WhatIf(
      PlayInput playInput,
      List<SchedulerEvent> changes,
      List<Happening.DeclarationEvent> later,
      EngineListener engineListener) {
    this.playInput = playInput;
    this.changes = changes;
    this.later = later;
    this.engineListener = engineListener;
  }

  /**
   * Plays the work.
   *
   * @param changes what is declared otherwise, or not at all, from the begin to the end; nothing
   *     that is declared in the meantime changes the same object
   */
  public static Played play(PlayInput playInput, List<SchedulerEvent> changes) {
    return play(playInput, changes, EngineListener.NONE);
  }

  /**
   * The same where what is changed goes on to change.
   *
   * @param later how what is declared otherwise changes after the begin
   */
  public static Played play(
      PlayInput playInput, List<SchedulerEvent> changes, List<Happening.DeclarationEvent> later) {
    return new WhatIf(playInput, changes, later, EngineListener.NONE).play();
  }

  /** The same with a listener for what the engine is told and decides. */
  public static Played play(
      PlayInput playInput, List<SchedulerEvent> changes, EngineListener engineListener) {
    return new WhatIf(playInput, changes, List.of(), engineListener).play();
  }

  private Played play() {
    EngineState state = playInput.state();
    Instant begin = playInput.begin();
    List<Decision> decisions = new ArrayList<>();
    InlineScheduler scheduler = new InlineScheduler(state, decisions::add);
    scheduler.listen(engineListener);
    OutcomeRecorder recorder = new OutcomeRecorder(state, begin, playInput.end());
    Map<WorkloadId, PendingWorkload> arriving = new HashMap<>();
    Set<WorkloadId> ended = new LinkedHashSet<>();
    Play play =
        new Play(
            new Play.Source(scheduler, decisions),
            begin,
            firstVersion(),
            (id, run) -> Optional.ofNullable(playInput.runTimes().get(id)),
            playInput.stopping(),
            new PlayListener() {
              @Override
              public void arrived(WorkloadId id, Instant at) {
                PendingWorkload workload = arriving.get(id);
                if (workload != null) {
                  recorder.waits(workload, at);
                }
              }

              @Override
              public void started(Decision.Admit admit, int run) {
                recorder.started(admit, run);
              }

              @Override
              public void ended(WorkloadId id, Instant at) {
                ended.add(id);
              }

              @Override
              public void preempted(WorkloadId id, String reason, Instant at) {
                recorder.preempted(id, reason, at);
              }

              @Override
              public void left(WorkloadId id, Instant at) {
                recorder.left(id, at);
              }

              @Override
              public void released(WorkloadId id, Instant at) {
                recorder.released(id, at);
              }
            });
    Set<Object> changed = new LinkedHashSet<>();
    scheduler.apply(new SchedulerEvent.TimePassed(begin));
    for (SchedulerEvent change : changes) {
      changed.add(subject(change));
      scheduler.apply(change);
      recorder.declared(change, begin);
    }
    playInput
        .running()
        .forEach(
            each -> {
              if (each.evicted()) {
                play.knownStopping(each.id(), each.again(), each.rest());
              } else {
                play.knownRunning(each.id(), each.again(), each.rest());
              }
            });
    pending(state)
        .values()
        .forEach(
            workload -> {
              play.knownPending(workload);
              recorder.waits(workload, begin);
            });
    for (Happening happening : playInput.happenings()) {
      switch (happening) {
        case Happening.Arrival(var at, var workload) -> {
          arriving.put(workload.id(), workload);
          play.arrives(at, workload, () -> !ended.contains(workload.id()));
        }
        case Happening.Change(var at, var workload) -> play.changes(at, workload);
        case Happening.Departure(var at, var id, var always) -> play.leaves(at, id, always);
        case Happening.DeclarationEvent(var at, var event) -> {
          if (!changed.contains(subject(event))) {
            play.happens(at, event, then -> recorder.declared(event, then));
          }
        }
      }
    }
    later.forEach(
        each ->
            play.happens(each.at(), each.event(), then -> recorder.declared(each.event(), then)));
    play.run(playInput.end(), () -> false);
    return new Played(recorder.outcome(), recorder.starts());
  }

  /**
   * Whom back-fill can't help, a sentence for each ClusterQueue with back-fill that has Workloads
   * without a bound that counts there: they never start before others.
   *
   * @param changes what is declared otherwise
   */
  public static List<String> unbounded(PlayInput playInput, List<SchedulerEvent> changes) {
    Map<String, RunBound> bounds = new HashMap<>();
    playInput
        .state()
        .workloads()
        .backfill()
        .bounds()
        .forEach(each -> bounds.put(each.uid(), each.bound()));
    Map<LocalQueueId, String> queues = new HashMap<>();
    playInput
        .state()
        .localQueues()
        .forEach(
            queue -> queue.spec().ifPresent(spec -> queues.put(queue.id(), spec.clusterQueue())));
    Map<String, BackfillRules> rules = new TreeMap<>();
    playInput
        .state()
        .clusterQueues()
        .forEach(
            queue ->
                queue
                    .spec()
                    .flatMap(spec -> spec.rules().backfill())
                    .ifPresent(each -> rules.put(queue.name(), each)));
    Map<WorkloadId, PendingWorkload> workloads = pending(playInput.state());
    List<SchedulerEvent> events = new ArrayList<>();
    for (Happening happening : playInput.happenings()) {
      switch (happening) {
        case Happening.Arrival(var _, var workload) -> workloads.put(workload.id(), workload);
        case Happening.DeclarationEvent(var _, var event) -> events.add(event);
        default -> {}
      }
    }
    events.addAll(changes);
    for (SchedulerEvent event : events) {
      switch (event) {
        case SchedulerEvent.RunBounded(var id, var bound) -> bounds.put(id.uid(), bound);
        case SchedulerEvent.LocalQueueChanged(var queue) ->
            queues.put(queue.id(), queue.clusterQueue());
        case SchedulerEvent.ClusterQueueChanged(var queue) ->
            queue
                .rules()
                .backfill()
                .ifPresentOrElse(
                    each -> rules.put(queue.name(), each), () -> rules.remove(queue.name()));
        default -> {}
      }
    }
    List<String> sentences = new ArrayList<>();
    rules.forEach(
        (name, each) -> {
          List<PendingWorkload> own =
              workloads.values().stream()
                  .filter(workload -> name.equals(queues.get(workload.localQueue())))
                  .toList();
          long unbounded =
              own.stream()
                  .map(workload -> bounds.getOrDefault(workload.id().uid(), RunBound.UNKNOWN))
                  .filter(bound -> bound.under(each.unknown()).isEmpty())
                  .count();
          if (unbounded > 0) {
            sentences.add(
                ("nobody knows how long %d of %d Workloads of ClusterQueue %s run at most: with its"
                        + " back-fill they start before nobody, and nothing is planned while they"
                        + " are in the way")
                    .formatted(unbounded, own.size(), name));
          }
        });
    return sentences;
  }

  private long firstVersion() {
    long version = 0;
    for (WorkloadExport workload : playInput.state().workloads().workloads()) {
      version = Math.max(version, workload.version());
    }
    for (PendingWorkload workload : pending(playInput.state()).values()) {
      version = Math.max(version, workload.version());
    }
    return version + 1;
  }

  private static Map<WorkloadId, PendingWorkload> pending(EngineState state) {
    Map<WorkloadId, PendingWorkload> pending = new LinkedHashMap<>();
    state
        .clusterQueues()
        .forEach(
            queue -> {
              for (ClassExport each : queue.pending().classes()) {
                each.workloads().forEach(workload -> pending.put(workload.id(), workload));
              }
            });
    for (WorkloadExport workload : state.workloads().workloads()) {
      if (workload.reservation().isEmpty()) {
        workload.retained().ifPresent(retained -> pending.putIfAbsent(retained.id(), retained));
      }
    }
    return pending;
  }

  /** What an event declares: its kind and name. */
  private static Object subject(SchedulerEvent event) {
    return switch (event) {
      case SchedulerEvent.FlavorChanged(var flavor) -> List.of("flavor", flavor.name());
      case SchedulerEvent.FlavorRemoved(var name) -> List.of("flavor", name);
      case SchedulerEvent.ClusterQueueChanged(var queue) -> List.of("clusterQueue", queue.name());
      case SchedulerEvent.ClusterQueueRemoved(var name) -> List.of("clusterQueue", name);
      case SchedulerEvent.CohortChanged(var cohort) -> List.of("cohort", cohort.name());
      case SchedulerEvent.CohortRemoved(var name) -> List.of("cohort", name);
      case SchedulerEvent.LocalQueueChanged(var queue) -> List.of("localQueue", queue.id());
      case SchedulerEvent.LocalQueueRemoved(var id) -> List.of("localQueue", id);
      case SchedulerEvent.TopologyChanged(var topology) -> List.of("topology", topology.name());
      case SchedulerEvent.TopologyRemoved(var name) -> List.of("topology", name);
      case SchedulerEvent.NodeChanged(var node) -> List.of("node", node.name());
      case SchedulerEvent.NodeRemoved(var name) -> List.of("node", name);
      case SchedulerEvent.BudgetChanged(var budget, var _) -> List.of("budget", budget.name());
      case SchedulerEvent.BudgetRemoved(var name) -> List.of("budget", name);
      case SchedulerEvent.PricesChanged(var flavor, var _) -> List.of("prices", flavor);
      default -> event;
    };
  }
}
