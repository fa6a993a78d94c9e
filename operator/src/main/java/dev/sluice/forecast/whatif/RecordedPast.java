package dev.sluice.forecast.whatif;

import dev.sluice.core.backfill.BackfillExport;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.engine.WorkloadExport;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.PendingQueueExport.ClassExport;
import dev.sluice.forecast.play.RequeuedWorkload;
import dev.sluice.forecast.whatif.PlayInput.Happening;
import dev.sluice.forecast.whatif.PlayInput.Happening.Arrival;
import dev.sluice.forecast.whatif.PlayInput.Happening.Change;
import dev.sluice.forecast.whatif.PlayInput.Happening.DeclarationEvent;
import dev.sluice.forecast.whatif.PlayInput.Happening.Departure;
import dev.sluice.forecast.whatif.PlayInput.RunningAtBegin;
import dev.sluice.journal.JournalHistory;
import dev.sluice.journal.JournalHistory.Moment;
import dev.sluice.journal.JournalRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a journal tells of the work of some time (docs/what-if.md#a-journal): when Workloads came,
 * how long each ran, and what was declared.
 */
public final class RecordedPast {

  /** A Workload as far as the journal was read. */
  private static final class Life {
    private @Nullable PendingWorkload pending;

    /** When its quota was reserved; null while it waits. */
    private @Nullable Instant since;

    /** When its preemption was decided; null unless it was. */
    private @Nullable Instant preempted;

    private @Nullable Duration lasted;

    /** When the run that goes on at the begin had begun. */
    private Instant sinceBegin = Instant.MIN;

    /** Whether it was being evicted at the begin. */
    private boolean evictedAtBegin;

    /** When it first lost its quota after the begin. */
    private @Nullable Instant stopped;

    private long version = -1;
    private boolean arrived;

    /** Whether the admission was written, and not only decided. */
    private boolean written;

    private boolean gone;
  }

  private final JournalHistory history;
  private final Instant begin;
  private final Map<WorkloadId, Life> lives = new LinkedHashMap<>();
  private final List<Happening> happenings = new ArrayList<>();
  private final Map<WorkloadId, List<Instant>> starts = new LinkedHashMap<>();
  private final List<Duration> stops = new ArrayList<>();
  private final List<WorkloadId> runningAtBegin = new ArrayList<>();
  private final Map<WorkloadId, Instant> departures = new LinkedHashMap<>();
  private Instant end;
  private long evictions;

  /** Workloads of which a bound is recorded. */
  private final Set<WorkloadId> bounded = new HashSet<>();

  /** Whether anything was reserved at any time. */
  private boolean reserves;

  /** Reads the history. */
  public RecordedPast(JournalHistory history) {
    this.history = history;
    Instant first = history.state().now();
    if (!history.moments().isEmpty() && history.moments().getFirst().at().isAfter(first)) {
      first = history.moments().getFirst().at();
    }
    begin = first;
    end = first;
    readState(history.state());
    for (Moment moment : history.moments()) {
      end = moment.at().isAfter(end) ? moment.at() : end;
      Instant at = moment.at().isBefore(begin) ? begin : moment.at();
      switch (moment.journalRecord()) {
        case JournalRecord.Applied(var event) -> applied(event, at);
        case JournalRecord.Decided(var decision) -> decided(decision);
        default -> {}
      }
    }
  }

  /** When each Workload was admitted, as it is recorded. */
  public Map<WorkloadId, List<Instant>> starts() {
    return starts;
  }

  /** The work, to be played again. */
  public PlayInput input() {
    Map<WorkloadId, Duration> runTimes = new HashMap<>();
    lives.forEach(
        (id, life) -> {
          if (life.lasted != null) {
            runTimes.put(id, life.lasted);
          }
        });
    List<Happening> all = new ArrayList<>();
    lives.forEach(
        (id, life) ->
            expected(life)
                .filter(run -> !bounded.contains(id))
                .ifPresent(
                    run ->
                        all.add(
                            new DeclarationEvent(
                                begin, new SchedulerEvent.RunBounded(id, expecting(run))))));
    all.addAll(happenings);
    departures.forEach((id, at) -> all.add(new Departure(at, id, !runTimes.containsKey(id))));
    List<RunningAtBegin> running = new ArrayList<>();
    for (WorkloadId id : runningAtBegin) {
      Life life = lives.get(id);
      if (life != null) {
        running.add(
            new RunningAtBegin(
                id,
                Optional.ofNullable(life.pending),
                life.evictedAtBegin
                    ? Optional.ofNullable(life.stopped).map(at -> Duration.between(begin, at))
                    : Optional.ofNullable(life.lasted)
                        .map(lasted -> lasted.minus(Duration.between(life.sinceBegin, begin))),
                life.evictedAtBegin));
      }
    }
    return new PlayInput(
        history.state(), begin, end, all, runTimes, running, stopping(), remarks(runTimes));
  }

  /**
   * How long a run was expected to take, where it was told for budgets or costs: the journal of an
   * operator in which nobody planned by bounds has no others.
   */
  private static Optional<Duration> expected(Life life) {
    return Optional.ofNullable(life.pending)
        .flatMap(
            pending ->
                pending
                    .shape()
                    .run()
                    .or(() -> pending.shape().cost().flatMap(QueueRules.CostRules::run)))
        .filter(Duration::isPositive);
  }

  /** Nobody knows whether what was expected was a limit, too. */
  private static RunBound expecting(Duration run) {
    return new RunBound(Optional.empty(), Optional.empty(), Optional.of(run));
  }

  private Duration stopping() {
    return stops.isEmpty()
        ? PlayInput.STOPPING
        : stops.stream().sorted().toList().get(stops.size() / 2);
  }

  private List<String> remarks(Map<WorkloadId, Duration> runTimes) {
    List<String> remarks = new ArrayList<>();
    long open =
        starts.keySet().stream().filter(id -> !runTimes.containsKey(id) && !life(id).gone).count();
    if (open > 0) {
      remarks.add(
          "%d Workloads had not run to their end: they run until the end of the time that is played"
              .formatted(open));
    }
    if (evictions > 0) {
      remarks.add(
          "%d evictions that the engine had not decided are not played%s"
              .formatted(evictions, reserves ? ", those for what is reserved are made anew" : ""));
    }
    history.skipped().forEach(reason -> remarks.add("missing in the journal: " + reason));
    return remarks;
  }

  private Life life(WorkloadId id) {
    return lives.computeIfAbsent(id, _ -> new Life());
  }

  private void readState(EngineState state) {
    Set<String> uids =
        state.workloads().backfill().bounds().stream()
            .map(BackfillExport.BoundExport::uid)
            .collect(Collectors.toSet());
    reserves = !state.workloads().budgets().reservations().kept().isEmpty();
    state
        .clusterQueues()
        .forEach(
            queue -> {
              for (ClassExport each : queue.pending().classes()) {
                each.workloads().forEach(this::knownPending);
              }
            });
    lives.keySet().stream().filter(id -> uids.contains(id.uid())).forEach(bounded::add);
    for (WorkloadExport workload : state.workloads().workloads()) {
      if (uids.contains(workload.id().uid())) {
        bounded.add(workload.id());
      }
      workload.retained().ifPresent(this::knownPending);
      Life life = life(workload.id());
      life.version = Math.max(life.version, workload.version());
      workload
          .reservation()
          .ifPresent(
              reservation -> {
                RequeuedWorkload.of(workload, state).ifPresent(again -> life.pending = again);
                life.since = reservation.holder().reservedAt();
                life.sinceBegin = life.since;
                life.evictedAtBegin =
                    reservation.holder().evicted() || workload.residue().evictionDecided() >= 0;
                life.arrived = true;
                life.written = true;
                runningAtBegin.add(workload.id());
              });
    }
  }

  private void knownPending(PendingWorkload workload) {
    Life life = life(workload.id());
    life.pending = workload;
    life.version = workload.version();
    life.arrived = true;
  }

  private void applied(SchedulerEvent event, Instant at) {
    switch (event) {
      case SchedulerEvent.WorkloadPending(var workload) -> pending(workload, at);
      case SchedulerEvent.WorkloadReserving(var workload) -> reserving(workload, at);
      case SchedulerEvent.WorkloadReleased(var id, var version) -> released(id, version, at);
      case SchedulerEvent.AdmissionRefused(var id, var _, var _) -> {
        life(id).since = null;
        List<Instant> started = starts.get(id);
        if (started != null) {
          started.removeLast();
          if (started.isEmpty()) {
            starts.remove(id);
          }
        }
      }
      case SchedulerEvent.AdmissionWritten(var id, var version, var _) -> {
        Life life = life(id);
        life.version = Math.max(life.version, version);
        life.written = life.since != null;
      }
      case SchedulerEvent.EvictionRefused _,
          SchedulerEvent.PlacementRefused _,
          SchedulerEvent.LocalQueueUsed _,
          SchedulerEvent.TimePassed _,
          SchedulerEvent.DecidingEnabled _ -> {}
      case SchedulerEvent.RunBounded(var id, var _) -> {
        bounded.add(id);
        happenings.add(new DeclarationEvent(at, event));
      }
      default -> {
        reserves |=
            event instanceof SchedulerEvent.ReservationsChanged(var kept) && !kept.isEmpty();
        happenings.add(new DeclarationEvent(at, event));
      }
    }
  }

  private void pending(PendingWorkload workload, Instant at) {
    Life life = life(workload.id());
    if (workload.version() <= life.version) {
      return;
    }
    life.version = workload.version();
    life.pending = workload;
    Instant preempted = life.preempted;
    if (life.since != null && !life.written) {
      // the decision is void: it was made for an older version
      life.since = null;
    }
    if (life.since != null) {
      // it ran, and was evicted: whether it is evicted in a play is up to the engine there
      if (preempted == null) {
        evictions += life.evictedAtBegin && life.stopped == null ? 0 : 1;
      } else {
        stops.add(Duration.between(preempted, at));
      }
      life.stopped = life.stopped == null ? at : life.stopped;
      life.since = null;
      life.written = false;
      life.preempted = null;
      return;
    }
    if (!life.arrived || life.gone) {
      happenings.add(new Arrival(at, workload));
      departures.remove(workload.id());
      life.arrived = true;
      life.gone = false;
    } else {
      happenings.add(new Change(at, workload));
    }
  }

  private void reserving(ReservingWorkload workload, Instant at) {
    Life life = life(workload.id());
    if (workload.version() <= life.version) {
      return;
    }
    life.version = workload.version();
    if (life.since == null) {
      life.since = workload.reservedAt();
    }
    life.written = true;
    if (!life.arrived) {
      // nobody tells when it came: it asks for what it has, when it had it
      PendingWorkload asked = asking(workload);
      life.pending = asked;
      life.arrived = true;
      happenings.add(new Arrival(at, asked));
    }
  }

  private static PendingWorkload asking(ReservingWorkload workload) {
    List<PodSetRequest> podSets = new ArrayList<>();
    for (PodSetAssignment each : workload.podSets()) {
      SortedMap<String, Long> perPod = new TreeMap<>();
      each.usage().forEach((name, amount) -> perPod.put(name, amount / Math.max(1, each.count())));
      podSets.add(
          new PodSetRequest(each.name(), each.count(), 0, perPod, NodeConstraints.ANYWHERE, ""));
    }
    return new PendingWorkload(
        workload.id(),
        workload.version(),
        workload.queueName(),
        new RequestShape(podSets, workload.guaranteed()),
        workload.priority(),
        workload.queuedAt(),
        workload.queuedAt(),
        Optional.empty(),
        false,
        Optional.empty(),
        false,
        workload.evictable());
  }

  private void released(WorkloadId id, long version, Instant at) {
    Life life = life(id);
    if (version <= life.version || life.gone) {
      return;
    }
    life.version = version == Long.MAX_VALUE ? life.version : version;
    life.gone = true;
    Instant since = life.since;
    if (since == null) {
      departures.put(id, at);
    } else {
      life.lasted = Duration.between(since, at);
      life.stopped = life.stopped == null ? at : life.stopped;
    }
    life.since = null;
    life.written = false;
    life.preempted = null;
  }

  private void decided(Decision decision) {
    switch (decision) {
      case Decision.Admit admit -> {
        Life life = life(admit.id());
        life.since = admit.at();
        life.written = false;
        starts.computeIfAbsent(admit.id(), _ -> new ArrayList<>()).add(admit.at());
      }
      case Decision.Preempt preempt ->
          preempt.targets().forEach(target -> life(target.id()).preempted = preempt.at());
      default -> {}
    }
  }
}
