package dev.sluice.reference;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.PlannedStart.BackfillEvent;
import dev.sluice.core.model.PlannedStart.LateCause;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.PreemptionProtection.PreemptionHistory;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.reference.ReferenceReservations.Overstay;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Plays steps to an engine and to the reference; what is compared, and when, is open. */
abstract class Stage {

  private static final WorkloadId NOBODY = new WorkloadId("uid-nobody", "ns-0", "nobody");

  static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  final Played engine;
  final ReferenceEngine reference;
  private final List<SchedulerEvent> declared = new ArrayList<>();
  private final Map<String, Long> versions = new HashMap<>();
  private final Map<String, PendingWorkload> last = new HashMap<>();
  Instant now = START;

  /** Whether somebody stops the pods of a Workload, where it changed. */
  private final Map<String, Boolean> attended = new HashMap<>();

  /** Since when the pods of a Workload are ready. */
  private final Map<String, Instant> runningSince = new HashMap<>();

  private final Map<String, Instant> checkpointedAt = new HashMap<>();

  private final Map<Integer, Integer> deleted = new HashMap<>();

  /** UIDs of those that left their queues and aren't back. */
  private final Set<String> away = new HashSet<>();

  private long version = 1;
  private int bounds;
  private int starts;
  private int plans;
  private int moves;
  private int kept;
  private final Set<LateCause> causes = EnumSet.noneOf(LateCause.class);
  private int overstays;

  Stage(Played engine, ReferenceEngine reference) {
    this.engine = engine;
    this.reference = reference;
    fold(new SchedulerEvent.TimePassed(now));
    fold(new SchedulerEvent.DecidingEnabled(true));
  }

  /** One cycle of both, compared. */
  abstract void oneCycle();

  /** Cycles until nothing is left to do, compared. */
  abstract void quiesce();

  /** What the reference knows. */
  final ReferenceQuestions asked() {
    return reference.questions();
  }

  void play(List<Step> steps) {
    for (Step step : steps) {
      play(step);
    }
    play(new Step.Quiesce());
  }

  final void fold(SchedulerEvent schedulerEvent) {
    engine.fold(schedulerEvent);
    reference.fold(schedulerEvent);
  }

  private void play(Step step) {
    switch (step) {
      case Step.Declare(var schedulerEvent) -> {
        declared.add(schedulerEvent);
        fold(schedulerEvent);
      }
      case Step.Repeat(var nth) -> {
        if (!declared.isEmpty() && latest(declared.get(nth % declared.size()))) {
          fold(declared.get(nth % declared.size()));
        }
      }
      case Step.Submit submit -> submit(submit);
      case Step.Touch(var number) -> {
        Optional<PendingWorkload> pending = asked().pendingOf(uid(number));
        pending.ifPresent(workload -> pending(withVersion(workload, version++)));
      }
      case Step.Echo(var number, var older) -> {
        PendingWorkload workload = last.get(uid(number));
        if (workload != null && away.remove(uid(number))) {
          // Nobody hears of a version from before it went.
          pending(withVersion(workload, version++));
        } else if (workload != null) {
          fold(
              new SchedulerEvent.WorkloadPending(
                  older ? withVersion(workload, Math.max(0, workload.version() - 1)) : workload));
        }
      }
      case Step.Release(var number) -> release(uid(number));
      case Step.Finish(var nth) -> pick(asked().holders(), nth).ifPresent(this::release);
      case Step.Evict(var nth) ->
          pick(asked().holders(), nth)
              .map(last::get)
              .ifPresent(workload -> pending(withVersion(workload, version++)));
      case Step.Shrink(var nth) ->
          pick(asked().holders(), nth)
              .ifPresent(uid -> hold(uid, version++, halved(asked().heldBy(uid))));
      case Step.Intrude intrude -> intrude(intrude);
      case Step.Answer(var nth, var end) ->
          pick(List.copyOf(asked().assumed().keySet()), nth).ifPresent(uid -> answer(uid, end));
      case Step.AnswerEviction(var nth, var end) ->
          pick(List.copyOf(asked().evictions().keySet()), nth)
              .ifPresent(uid -> answerEviction(uid, end));
      case Step.Leave(var nth) ->
          pick(asked().evicted(), nth)
              .map(last::get)
              .ifPresent(
                  workload ->
                      pending(withVersion(RandomRules.preempted(workload, now), version++)));
      case Step.Reprioritize(var nth, var priority) ->
          pick(asked().holders(), nth)
              .ifPresent(
                  uid -> {
                    ReferenceEntry.Holding held = asked().holding(uid);
                    hold(
                        uid, version++, held.podSets(), priority, held.evicted(), held.podsReady());
                  });
      case Step.Attend(var nth, var evictable) ->
          pick(asked().holders(), nth)
              .ifPresent(
                  uid -> {
                    attended.put(uid, evictable);
                    hold(uid, version++, asked().heldBy(uid));
                  });
      case Step.PodsReady(var nth, var ready) ->
          pick(asked().holders(), nth)
              .ifPresent(
                  uid -> {
                    ReferenceEntry.Holding held = asked().holding(uid);
                    if (ready) {
                      runningSince.put(uid, now);
                    }
                    hold(uid, version++, held.podSets(), held.priority(), held.evicted(), ready);
                  });
      case Step.Checkpoint(var nth) ->
          pick(asked().holders(), nth)
              .ifPresent(
                  uid -> {
                    checkpointedAt.put(uid, now);
                    hold(uid, version++, asked().heldBy(uid));
                  });
      case Step.Gate(var number, var closed) ->
          asked()
              .pendingOf(uid(number))
              .ifPresent(workload -> pending(withGate(withVersion(workload, version++), closed)));
      case Step.Pass(var seconds) -> passTo(now.plusSeconds(seconds));
      case Step.PassInTime(var seconds) -> passInTime(now.plusSeconds(seconds));
      case Step.Deciding(var enabled) -> fold(new SchedulerEvent.DecidingEnabled(enabled));
      case Step.Cycle() -> {
        oneCycle();
        checkViews();
      }
      case Step.Quiesce() -> {
        quiesce();
        checkViews();
      }
    }
  }

  private void passTo(Instant time) {
    now = time;
    fold(new SchedulerEvent.TimePassed(now));
    if (asked().plans()) {
      // Time alone moves no plan behind a run that goes on beyond its bound; any event does.
      fold(new SchedulerEvent.RunBounded(NOBODY, RunBound.of(Duration.ofSeconds(++bounds))));
    }
  }

  private void passInTime(Instant until) {
    settle();
    Optional<String> next = firstToEnd(until);
    while (next.isPresent()) {
      passTo(endOf(next.get()));
      release(next.get());
      settle();
      next = firstToEnd(until);
    }
    passTo(until);
    settle();
  }

  private void settle() {
    quiesce();
    while (!asked().assumed().isEmpty()) {
      asked().assumed().keySet().forEach(uid -> answer(uid, Step.End.WRITTEN));
      quiesce();
    }
  }

  private Optional<String> firstToEnd(Instant until) {
    return asked().holders().stream()
        .filter(uid -> !endOf(uid).isAfter(until))
        .min(Comparator.comparing(this::endOf));
  }

  /** When a run ends: half of them when they have to, the others any time before. */
  private Instant endOf(String uid) {
    return asked()
        .limitOf(uid)
        .map(
            limit -> {
              long longest = limit.plus(ReferenceBackfill.OVERHEAD).toSeconds() - 1;
              int any = uid.hashCode() * 31;
              Instant since = asked().holding(uid).reservedAt();
              return since.plusSeconds(any % 2 == 0 ? longest : 1 + Math.floorMod(any, longest));
            })
        .orElse(Instant.MAX);
  }

  /** Whether nothing was said of the same thing later. */
  private boolean latest(SchedulerEvent schedulerEvent) {
    for (int i = declared.size() - 1; i >= 0; i--) {
      if (Step.subject(declared.get(i)).equals(Step.subject(schedulerEvent))) {
        return declared.get(i) == schedulerEvent;
      }
    }
    return false;
  }

  /** Whether somebody stops the pods: of one in six Workloads nobody does, unless that changed. */
  private boolean isEvictable(String uid, int number) {
    return attended.getOrDefault(uid, isAttended(number));
  }

  /** Whether somebody stops the pods of the Workload at first. */
  static boolean isAttended(int number) {
    return number % 6 != 5;
  }

  /** A Workload that is made anew after it was deleted has another UID. */
  private String uid(int number) {
    int before = deleted.getOrDefault(number, 0);
    return "uid-" + number + (before == 0 ? "" : "." + before);
  }

  private static Optional<String> pick(List<String> among, int nth) {
    return among.isEmpty() ? Optional.empty() : Optional.of(among.get(nth % among.size()));
  }

  private void pending(PendingWorkload workload) {
    runningSince.remove(workload.id().uid());
    last.put(workload.id().uid(), workload);
    away.remove(workload.id().uid());
    versions.put(workload.id().uid(), workload.version());
    fold(new SchedulerEvent.WorkloadPending(workload));
  }

  static PendingWorkload withVersion(PendingWorkload workload, long version) {
    return new PendingWorkload(
        workload.id(),
        version,
        workload.queueName(),
        workload.shape(),
        workload.priority(),
        workload.createdAt(),
        workload.queuedAt(),
        workload.notBefore(),
        workload.held(),
        workload.defect(),
        workload.gated(),
        workload.evictable(),
        workload.history());
  }

  static PendingWorkload withGate(PendingWorkload workload, boolean closed) {
    return new PendingWorkload(
        workload.id(),
        workload.version(),
        workload.queueName(),
        workload.shape(),
        workload.priority(),
        workload.createdAt(),
        workload.queuedAt(),
        workload.notBefore(),
        workload.held(),
        workload.defect(),
        closed,
        workload.evictable(),
        workload.history());
  }

  private void submit(Step.Submit submit) {
    String uid = uid(submit.number());
    if (asked().holders().contains(uid)) {
      return;
    }
    pending(submit.asked(uid, last.get(uid), version++, now, isEvictable(uid, submit.number())));
  }

  /** Ends a Workload; some of those that wait are only away, for a moment or longer. */
  private void release(String uid) {
    PendingWorkload workload = last.get(uid);
    if (workload == null) {
      return;
    }
    int number = Integer.parseInt(workload.id().name().substring(1));
    if (number % 2 == 0 && asked().pendingOf(uid).isPresent()) {
      fold(new SchedulerEvent.WorkloadReleased(workload.id(), version++));
      if (number % 4 == 0) {
        pending(withVersion(workload, version++));
      } else {
        away.add(uid);
      }
      return;
    }
    away.remove(uid);
    last.remove(uid);
    versions.remove(uid);
    fold(new SchedulerEvent.WorkloadReleased(workload.id(), Long.MAX_VALUE));
    deleted.merge(number, 1, Integer::sum);
  }

  private void intrude(Step.Intrude intrude) {
    String uid = uid(intrude.number());
    if (last.containsKey(uid)) {
      return;
    }
    WorkloadId id = new WorkloadId(uid, intrude.namespace(), "w" + intrude.number());
    last.put(
        uid,
        new PendingWorkload(
            id,
            version,
            intrude.queue(),
            RandomWorld.single("cpu", intrude.amount()),
            intrude.priority(),
            START,
            START,
            Optional.empty(),
            false,
            Optional.empty(),
            false,
            isEvictable(uid, intrude.number())));
    PodSetAssignment podSet =
        new PodSetAssignment(
            "main",
            new TreeMap<>(Map.of("cpu", intrude.flavor())),
            new TreeMap<>(Map.of("cpu", intrude.amount())),
            1);
    fold(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                id,
                version++,
                intrude.queue(),
                intrude.clusterQueue(),
                List.of(podSet),
                intrude.priority(),
                START.plusSeconds(intrude.number()),
                false,
                true,
                true,
                now,
                isEvictable(uid, intrude.number()))));
  }

  private void hold(String uid, long at, List<PodSetAssignment> podSets) {
    ReferenceEntry.Holding held = asked().holding(uid);
    hold(uid, at, podSets, held.priority(), held.evicted(), held.podsReady());
  }

  private void hold(
      String uid,
      long at,
      List<PodSetAssignment> podSets,
      long priority,
      boolean evicted,
      boolean podsReady) {
    ReferenceEntry.Holding held = asked().holding(uid);
    LocalQueueId queue = asked().localQueueOf(uid);
    fold(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                asked().idOf(uid),
                at,
                queue.name(),
                asked().clusterQueueOf(uid),
                podSets,
                priority,
                held.queuedAt(),
                evicted,
                true,
                podsReady,
                held.decidedAt().isPresent() ? now : held.reservedAt(),
                attended.getOrDefault(uid, held.evictable()),
                held.guaranteed(),
                held.slice(),
                Optional.empty(),
                protection(uid, held))));
  }

  private PreemptionProtection protection(String uid, ReferenceEntry.Holding held) {
    return new PreemptionProtection(
        held.protection().classRules(),
        new PreemptionHistory(
            Optional.ofNullable(runningSince.get(uid)),
            held.protection().history().preemptedAt(),
            Optional.ofNullable(checkpointedAt.get(uid))));
  }

  private static List<PodSetAssignment> halved(List<PodSetAssignment> podSets) {
    List<PodSetAssignment> result = new ArrayList<>();
    for (PodSetAssignment podSet : podSets) {
      SortedMap<String, Long> usage = new TreeMap<>(podSet.usage());
      usage.replaceAll((resource, amount) -> amount / 2);
      result.add(
          new PodSetAssignment(
              podSet.name(), podSet.flavors(), usage, podSet.count(), halved(podSet.topology())));
    }
    return result;
  }

  private static PodSetTopology halved(PodSetTopology places) {
    return new PodSetTopology(
        places.delay(),
        places
            .assignment()
            .map(
                all ->
                    new TopologyAssignment(
                        all.levels(), all.domains().subList(0, (all.domains().size() + 1) / 2))),
        places.perPod());
  }

  private void answerEviction(String uid, Step.EvictionEnd end) {
    long decided = Objects.requireNonNull(asked().evictions().get(uid));
    WorkloadId id = asked().idOf(uid);
    switch (end) {
      case REFUSED -> fold(new SchedulerEvent.EvictionRefused(id, decided));
      case STALE_REFUSAL -> fold(new SchedulerEvent.EvictionRefused(id, decided - 1));
      case WRITTEN -> {
        if (asked().assumed().containsKey(uid)) {
          fold(new SchedulerEvent.EvictionRefused(id, decided)); // its admission came in between
        } else {
          ReferenceEntry.Holding held = asked().holding(uid);
          hold(uid, version++, held.podSets(), held.priority(), true, held.podsReady());
        }
      }
      case ASKED -> {
        if (!asked().assumed().containsKey(uid)) {
          hold(uid, version++, asked().heldBy(uid));
        }
      }
      case CHANGED_THEN_REFUSED -> {
        if (!asked().assumed().containsKey(uid)) {
          hold(uid, version++, asked().heldBy(uid));
        }
        fold(new SchedulerEvent.EvictionRefused(id, decided));
      }
    }
  }

  private void answer(String uid, Step.End end) {
    long decided = Objects.requireNonNull(asked().assumed().get(uid));
    WorkloadId id = asked().idOf(uid);
    List<PodSetAssignment> podSets = asked().heldBy(uid);
    switch (end) {
      case WRITTEN -> fold(new SchedulerEvent.AdmissionWritten(id, version++));
      case SEEN -> hold(uid, version++, podSets);
      case SEEN_THEN_WRITTEN -> {
        long at = version++;
        hold(uid, at, podSets);
        fold(new SchedulerEvent.AdmissionWritten(id, at));
      }
      case REFUSED -> fold(new SchedulerEvent.AdmissionRefused(id, decided, false));
      case SUPERSEDED -> fold(new SchedulerEvent.AdmissionRefused(id, decided, true));
      case OVERTAKEN_BY_CHANGE -> {
        pending(withVersion(Objects.requireNonNull(last.get(uid)), version++));
        fold(new SchedulerEvent.AdmissionRefused(id, decided, true));
      }
      case WRITTEN_THEN_LATE_REFUSAL -> {
        fold(new SchedulerEvent.AdmissionWritten(id, version++));
        fold(new SchedulerEvent.AdmissionRefused(id, decided, true));
      }
    }
  }

  /** What is decided in other trees is of no concern; which tree comes first is nowhere said. */
  final Map<String, List<Decided>> byTree(List<Decided> decided) {
    ReferenceTree tree = asked().tree();
    return decided.stream()
        .collect(
            Collectors.groupingBy(
                each -> String.join(" ", tree.path(each.clusterQueue())).replaceAll(" .*", "")));
  }

  /**
   * Compares who started before heads, when no head was left to look at, and who is planned to
   * start when.
   *
   * @param actual who started by the engine
   */
  final void backfilled(List<Decided> actual) {
    List<String> queues = actual.stream().map(Decided::clusterQueue).toList();
    List<Decided> expected = reference.backfill(this::isPlannedOtherwise, queues);
    require(
        byTree(expected).equals(byTree(actual)),
        "started otherwise: " + expected + ", engine " + actual);
    starts += actual.size();
    reference
        .planned()
        .forEach(
            (uid, start) -> {
              Optional<PlannedStart> planned = engine.planned(asked().idOf(uid));
              plans += start.isPresent() ? 1 : 0;
              require(
                  start.equals(planned),
                  "planned otherwise: " + uid + " " + start + ", engine " + planned);
            });
    comparePromises();
  }

  /** Whether the engine has planned those anew who wait in a queue. */
  private boolean isPlannedOtherwise(String queue) {
    return asked().waitingIn(queue).stream()
        .anyMatch(
            id ->
                !engine
                    .planned(id)
                    .equals(
                        reference.promises().of(queue).stream()
                            .filter(start -> start.id().equals(id))
                            .findFirst()));
  }

  /** Compares what happened to planned starts in this cycle. */
  final void comparePromises() {
    List<BackfillEvent> actual = sorted(engine.backfillEvents());
    List<BackfillEvent> expected = sorted(reference.promises().takeEvents());
    require(expected.equals(actual), "promises otherwise: " + expected + ", engine " + actual);
    for (BackfillEvent each : actual) {
      kept += each.kind() == BackfillEvent.Kind.KEPT ? 1 : 0;
      if (each.kind() == BackfillEvent.Kind.MOVED || each.kind() == BackfillEvent.Kind.LATE) {
        moves++;
        causes.add(each.cause().orElseThrow());
      }
    }
  }

  private static List<BackfillEvent> sorted(List<BackfillEvent> events) {
    return events.stream().sorted(Comparator.comparing(BackfillEvent::toString)).toList();
  }

  /** How often a planned start became later, or was late. */
  final int moves() {
    return moves;
  }

  /** By what. */
  final Set<LateCause> causes() {
    return causes;
  }

  /** How often somebody started as was promised. */
  final int kept() {
    return kept;
  }

  /** How many Workloads started before the head of their queue. */
  final int starts() {
    return starts;
  }

  /** How often somebody had to go for what is kept. */
  final int overstays() {
    return overstays;
  }

  /** How often a planned start was compared. */
  final int plans() {
    return plans;
  }

  private void checkViews() {
    engine.views().ifPresent(new ViewChecks(asked())::check);
    new ViewChecks(asked()).check(engine.totals());
    engine
        .overstays()
        .ifPresent(
            actual -> {
              Set<Overstay> expected = asked().overstays();
              overstays += expected.size();
              require(
                  expected.equals(actual),
                  "have to go otherwise: " + expected + ", engine " + actual);
            });
  }

  static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }
}
