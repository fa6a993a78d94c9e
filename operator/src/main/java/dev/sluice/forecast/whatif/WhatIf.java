package dev.sluice.forecast.whatif;

import dev.sluice.core.engine.EngineState;
import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.engine.SchedulerThread.EngineListener;
import dev.sluice.core.engine.WorkloadExport;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.PendingQueueExport.ClassExport;
import dev.sluice.forecast.play.Play;
import dev.sluice.forecast.play.Play.PlayListener;
import dev.sluice.forecast.whatif.PlayInput.Happening;
import java.time.Duration;
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
import java.util.function.UnaryOperator;

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
    UnaryOperator<PendingWorkload> limited = limited();
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
    pending(state).values().stream()
        .filter(workload -> !limited.apply(workload).equals(workload))
        .forEach(
            workload ->
                scheduler.apply(
                    new SchedulerEvent.WorkloadPending(
                        limited
                            .apply(workload)
                            .requeued(workload.version() + 1, workload.queuedAt()))));
    for (SchedulerEvent change : changes) {
      changed.add(subject(change));
      scheduler.apply(change);
      recorder.declared(change, begin);
    }
    playInput
        .running()
        .forEach(
            each -> {
              Optional<PendingWorkload> again = each.again().map(limited);
              if (each.evicted()) {
                play.knownStopping(each.id(), again, each.rest());
              } else {
                play.knownRunning(each.id(), again, each.rest());
              }
            });
    pending(state)
        .values()
        .forEach(
            workload -> {
              play.knownPending(limited.apply(workload));
              recorder.waits(workload, begin);
            });
    for (Happening happening : playInput.happenings()) {
      switch (happening) {
        case Happening.Arrival(var at, var workload) -> {
          arriving.put(workload.id(), workload);
          play.arrives(at, limited.apply(workload), () -> !ended.contains(workload.id()));
        }
        case Happening.Change(var at, var workload) -> play.changes(at, limited.apply(workload));
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
   * Adds the limit of a Workload to its request where a Budget asks how long it runs: nobody asked
   * in a trace, or in a journal without Budgets.
   */
  private UnaryOperator<PendingWorkload> limited() {
    List<SchedulerEvent> events = declarations(playInput, changes);
    if (reserving(playInput, events).isEmpty()) {
      return UnaryOperator.identity();
    }
    Map<String, RunBound> bounds = bounds(playInput, events);
    return workload -> workload.withShape(workload.shape().running(run(workload, bounds)));
  }

  /** How long a Workload runs at the most; empty if a Budget that charges whole runs holds it. */
  private static Optional<Duration> run(PendingWorkload workload, Map<String, RunBound> bounds) {
    return workload.shape().run().or(() -> bound(workload, bounds).limit());
  }

  private static RunBound bound(PendingWorkload workload, Map<String, RunBound> bounds) {
    return bounds.getOrDefault(workload.id().uid(), RunBound.UNKNOWN);
  }

  /** What is declared after the begin, and what is declared otherwise. */
  private static List<SchedulerEvent> declarations(
      PlayInput playInput, List<SchedulerEvent> changes) {
    List<SchedulerEvent> events = new ArrayList<>();
    for (Happening happening : playInput.happenings()) {
      if (happening instanceof Happening.DeclarationEvent(var _, var event)) {
        events.add(event);
      }
    }
    events.addAll(changes);
    return events;
  }

  private static Map<String, RunBound> bounds(PlayInput playInput, List<SchedulerEvent> events) {
    Map<String, RunBound> bounds = new HashMap<>();
    playInput
        .state()
        .workloads()
        .backfill()
        .bounds()
        .forEach(each -> bounds.put(each.uid(), each.bound()));
    for (SchedulerEvent event : events) {
      if (event instanceof SchedulerEvent.RunBounded(var id, var bound)) {
        bounds.put(id.uid(), bound);
      }
    }
    return bounds;
  }

  /** The names of the Budgets that hold Workloads of which nobody knows how long they run. */
  private static Set<String> reserving(PlayInput playInput, List<SchedulerEvent> events) {
    Map<String, BudgetSpec> budgets = new TreeMap<>();
    playInput
        .state()
        .workloads()
        .budgets()
        .accounts()
        .forEach(each -> budgets.put(each.spec().name(), each.spec()));
    for (SchedulerEvent event : events) {
      switch (event) {
        case SchedulerEvent.BudgetChanged(var budget, var _) -> budgets.put(budget.name(), budget);
        case SchedulerEvent.BudgetRemoved(var name) -> budgets.remove(name);
        default -> {}
      }
    }
    budgets.values().removeIf(budget -> !budget.holds() || !budget.reserves());
    return budgets.keySet();
  }

  /**
   * Whom back-fill can't help, a sentence for each ClusterQueue with back-fill that has Workloads
   * without a bound that counts there: they never start before others. And whom Budgets hold that
   * charge whole runs.
   *
   * @param changes what is declared otherwise
   */
  public static List<String> unbounded(PlayInput playInput, List<SchedulerEvent> changes) {
    List<SchedulerEvent> events = declarations(playInput, changes);
    Map<String, RunBound> bounds = bounds(playInput, events);
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
    for (Happening happening : playInput.happenings()) {
      if (happening instanceof Happening.Arrival(var _, var workload)) {
        workloads.put(workload.id(), workload);
      }
    }
    for (SchedulerEvent event : events) {
      switch (event) {
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
                  .filter(workload -> bound(workload, bounds).under(each.unknown()).isEmpty())
                  .count();
          if (unbounded > 0) {
            sentences.add(
                ("nobody knows how long %d of %d Workloads of ClusterQueue %s run at most: with its"
                        + " back-fill they start before nobody, and nothing is planned while they"
                        + " are in the way")
                    .formatted(unbounded, own.size(), name));
          }
        });
    long unlimited =
        workloads.values().stream().filter(workload -> run(workload, bounds).isEmpty()).count();
    Set<String> budgets = unlimited > 0 ? reserving(playInput, events) : Set.of();
    if (!budgets.isEmpty()) {
      sentences.add(
          ("nothing says how long %d of %d Workloads run: those in the scope of Budget %s are held,"
                  + " since it charges whole runs")
              .formatted(unlimited, workloads.size(), String.join(", ", budgets)));
    }
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
    return version + 2; // what waits is told anew in its next version
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
