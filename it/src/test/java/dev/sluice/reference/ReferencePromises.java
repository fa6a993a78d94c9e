package dev.sluice.reference;

import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.PlannedStart.BackfillEvent;
import dev.sluice.core.model.PlannedStart.BackfillEvent.Kind;
import dev.sluice.core.model.PlannedStart.LateCause;
import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What was promised to those that are planned in each queue, and by what it became later
 * (docs/backfill.md#what-is-promised): what was known when the queue was planned last is remembered
 * as it was, and compared.
 */
final class ReferencePromises {

  /**
   * What can be told from a queue when it is planned.
   *
   * @param starts what is planned, in queue order
   * @param without the first that isn't planned for lack of a time
   * @param waiting who waits in the queue
   * @param quota what the queue has of each pair, and what it can have with all that it can borrow
   * @param heldBack who is planned for the end of what is kept for others, or behind such a one
   * @param beyondBound whether a run of its tree goes on beyond its bound
   * @param lent whether other queues have quota of this one at any time
   * @param running who has quota of its tree
   */
  record Look(
      Map<WorkloadId, Instant> starts,
      Optional<WorkloadId> without,
      List<WorkloadId> waiting,
      Map<FlavorResource, List<Long>> quota,
      Set<WorkloadId> heldBack,
      boolean beyondBound,
      boolean lent,
      Set<String> running) {}

  /** One that had quota when another bound of it became known. */
  private record Told(String uid, RunBound before, RunBound after) {}

  /** What was known when a queue was planned, and what happened since then. */
  private static final class Known {
    List<PlannedStart> starts = new ArrayList<>();
    Map<FlavorResource, List<Long>> quota = Map.of();
    final List<Told> told = new ArrayList<>();

    /** Those before whom a head started that came behind them, or wasn't planned. */
    final Set<WorkloadId> overtaken = new HashSet<>();
  }

  private final Map<String, Known> queues = new TreeMap<>();
  private final List<BackfillEvent> events = new ArrayList<>();

  /** What is planned in a queue. */
  List<PlannedStart> of(String queue) {
    Known known = queues.get(queue);
    return known == null ? List.of() : known.starts;
  }

  /** The queues in which anything is planned. */
  List<String> queues() {
    return List.copyOf(queues.keySet());
  }

  /** Nothing is planned in a queue any more. */
  void forget(String queue) {
    queues.remove(queue);
  }

  /** One that has quota has another bound. */
  void told(String uid, RunBound before, RunBound after) {
    queues.values().forEach(known -> known.told.add(new Told(uid, before, after)));
  }

  /** One is deleted: who comes with its UID is another one. */
  void deleted(String uid) {
    queues.values().forEach(known -> known.told.removeIf(told -> told.uid().equals(uid)));
  }

  /** What happened since the last call. */
  List<BackfillEvent> takeEvents() {
    List<BackfillEvent> taken = List.copyOf(events);
    events.clear();
    return taken;
  }

  /** One starts that isn't the head of its queue. */
  void backfilled(String queue, WorkloadId id) {
    events.add(
        new BackfillEvent(
            queue,
            id,
            Kind.BACKFILLED,
            planned(queue, id).map(PlannedStart::at),
            Optional.empty()));
  }

  /** One gets quota. */
  void started(String queue, WorkloadId id, boolean asHead, Instant now) {
    Known known = queues.get(queue);
    if (known == null) {
      return;
    }
    if (asHead) {
      known.starts.stream()
          .takeWhile(start -> !start.id().equals(id))
          .forEach(start -> known.overtaken.add(start.id()));
    }
    planned(queue, id)
        .ifPresent(
            start -> {
              boolean late = now.isAfter(start.promised());
              events.add(
                  new BackfillEvent(
                      queue,
                      id,
                      late ? Kind.LATE : Kind.KEPT,
                      Optional.of(start.promised()),
                      late
                          ? Optional.of(
                              start.lateBy().isEmpty()
                                  ? LateCause.OTHER
                                  : start.lateBy().getFirst())
                          : Optional.empty()));
              known.starts.remove(start);
            });
  }

  private Optional<PlannedStart> planned(String queue, WorkloadId id) {
    return of(queue).stream().filter(start -> start.id().equals(id)).findFirst();
  }

  /** A queue is planned anew. */
  void replace(String queue, Look look, UnknownRunTime unknown) {
    Known before = queues.getOrDefault(queue, new Known());
    Known after = new Known();
    after.quota = look.quota();
    Set<WorkloadId> ahead = new HashSet<>();
    look.starts()
        .forEach(
            (id, at) -> {
              PlannedStart start =
                  planned(queue, id).orElseGet(() -> new PlannedStart(id, at, at, List.of()));
              List<LateCause> causes = new ArrayList<>(start.lateBy());
              if (at.isAfter(start.at())) {
                LateCause cause = cause(start, before, ahead, look, unknown);
                moved(queue, id, Optional.of(at), cause);
                if (!causes.contains(cause)) {
                  causes.add(cause);
                }
              }
              after.starts.add(new PlannedStart(id, at, start.promised(), causes));
              ahead.add(id);
            });
    look.without().ifPresent(ahead::add);
    for (PlannedStart lost : before.starts) {
      if (!look.starts().containsKey(lost.id()) && look.waiting().contains(lost.id())) {
        moved(queue, lost.id(), Optional.empty(), cause(lost, before, ahead, look, unknown));
      }
    }
    queues.put(queue, after);
  }

  private void moved(String queue, WorkloadId id, Optional<Instant> to, LateCause cause) {
    events.add(new BackfillEvent(queue, id, Kind.MOVED, to, Optional.of(cause)));
  }

  private static LateCause cause(
      PlannedStart start, Known before, Set<WorkloadId> ahead, Look look, UnknownRunTime unknown) {
    Set<WorkloadId> others = new HashSet<>(ahead);
    others.remove(start.id());
    before.starts.stream()
        .takeWhile(each -> !each.id().equals(start.id()))
        .forEach(each -> others.remove(each.id()));
    if (!others.isEmpty() || before.overtaken.contains(start.id())) {
      return LateCause.HIGHER_PRIORITY;
    }
    if (before.quota.keySet().stream()
        .anyMatch(pair -> isLess(amounts(look.quota(), pair), amounts(before.quota, pair)))) {
      return LateCause.QUOTA_REDUCED;
    }
    if (look.beyondBound()
        || before.told.stream()
            .anyMatch(told -> look.running().contains(told.uid()) && isLater(told, unknown))) {
      return LateCause.RUN_BEYOND_BOUND;
    }
    if (look.lent()) {
      return LateCause.QUOTA_LENT;
    }
    return look.heldBack().contains(start.id()) ? LateCause.QUOTA_REDUCED : LateCause.OTHER;
  }

  private static List<Long> amounts(Map<FlavorResource, List<Long>> quota, FlavorResource pair) {
    return quota.getOrDefault(pair, List.of(0L, 0L));
  }

  private static boolean isLess(List<Long> quota, List<Long> before) {
    return quota.getFirst() < before.getFirst() || quota.getLast() < before.getLast();
  }

  private static boolean isLater(Told told, UnknownRunTime unknown) {
    Optional<Duration> then = told.before().under(unknown);
    Optional<Duration> now = told.after().under(unknown);
    return then.isPresent() && (now.isEmpty() || now.get().compareTo(then.get()) > 0);
  }
}
