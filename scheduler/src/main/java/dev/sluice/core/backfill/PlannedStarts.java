package dev.sluice.core.backfill;

import dev.sluice.core.backfill.BackfillExport.PairQuota;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.Instants;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.core.model.PlannedStart.BackfillEvent;
import dev.sluice.core.model.PlannedStart.LateCause;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.queue.RunEnds;
import dev.sluice.core.quota.QuotaNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The bounds of run times that are known, and what was planned last: who may say that a planned
 * start has moved, and why. Confined to the scheduler thread.
 */
public final class PlannedStarts {

  /**
   * How much longer than its bound a run has its quota at most: its pods start after the
   * reservation, and stop after the end.
   */
  public static final Duration OVERHEAD = Duration.ofMinutes(1);

  private static final long LONGEST = Duration.ofDays(36_500).toSeconds();

  /**
   * What is planned in a queue.
   *
   * @param quotas what the queue had of each of its pairs
   * @param overtakenIds those before whom a head has started that came behind them, or wasn't
   *     planned
   * @param pass the number of the pass that planned the queue
   */
  private record QueuePlans(
      List<PlannedStart> starts,
      List<PairQuota> quotas,
      List<WorkloadId> overtakenIds,
      long pass) {}

  private static final QueuePlans NO_PLANS = new QueuePlans(List.of(), List.of(), List.of(), 0);

  private final Map<String, RunBound> bounds = new HashMap<>();

  /**
   * The number of the last pass before a run got a later bound, by UID and by the rule under which
   * the bound is later. A pass doesn't plan every queue, so each queue compares the number with
   * that of its own pass.
   */
  private final Map<String, Map<UnknownRunTime, Long>> extended = new HashMap<>();

  private final Map<String, QueuePlans> plans = new HashMap<>();
  private final List<BackfillEvent> events = new ArrayList<>();

  /** When runs end, by the rule for those without a limit; those that were asked for. */
  private final Map<UnknownRunTime, RunEnds> ends = new EnumMap<>(UnknownRunTime.class);

  /** Roots of the trees in which anything has happened since they were planned. */
  private final Set<QuotaNode> changedTrees = new HashSet<>();

  /** Roots of the trees whose plans depend on the time, or on what happens elsewhere. */
  private final Set<QuotaNode> unsteadyTrees = new HashSet<>();

  /** When trees are planned anew though nothing happens, by root. */
  private final Map<QuotaNode, Long> nextOfTrees = new HashMap<>();

  /** How many passes have ended. */
  private long passes;

  /** Whether anything has happened since plans were made that may concern any tree. */
  private boolean allChanged;

  private long nextMicros = QuotaProfile.NEVER;

  /**
   * The state as a value.
   *
   * @param rebuildDue whether {@link #treesRebuilt} is called before anything is planned
   */
  public BackfillExport export(boolean rebuildDue) {
    List<BackfillExport.BoundExport> allBounds = new ArrayList<>();
    new TreeMap<>(bounds)
        .forEach(
            (uid, bound) ->
                allBounds.add(
                    new BackfillExport.BoundExport(
                        uid, bound, extended.getOrDefault(uid, Map.of()))));
    List<BackfillExport.QueueExport> allPlans = new ArrayList<>();
    new TreeMap<>(plans)
        .forEach(
            (queue, each) ->
                allPlans.add(
                    new BackfillExport.QueueExport(
                        queue, each.starts(), each.quotas(), each.overtakenIds(), each.pass())));
    return new BackfillExport(
        allBounds,
        allPlans,
        rebuildDue ? List.of() : exportTrees(),
        allChanged,
        nextMicros == QuotaProfile.NEVER
            ? Optional.empty()
            : Optional.of(Instants.ofMicros(nextMicros)),
        passes);
  }

  /**
   * Takes a state over, into an object without any.
   *
   * @param roots the root that a tree of the state has; null if there is none
   */
  public void restore(
      BackfillExport backfillExport,
      Function<BackfillExport.TreeExport, @Nullable QuotaNode> roots) {
    for (BackfillExport.BoundExport each : backfillExport.bounds()) {
      bounds.put(each.uid(), each.bound());
      if (!each.extended().isEmpty()) {
        extended.put(each.uid(), new EnumMap<>(each.extended()));
      }
    }
    for (BackfillExport.QueueExport each : backfillExport.plans()) {
      plans.put(
          each.clusterQueue(),
          new QueuePlans(each.starts(), each.quotas(), each.overtakenIds(), each.pass()));
    }
    passes = backfillExport.passes();
    allChanged = backfillExport.changed();
    nextMicros = backfillExport.next().map(Instants::micros).orElse(QuotaProfile.NEVER);
    for (BackfillExport.TreeExport each : backfillExport.trees()) {
      QuotaNode rootNode = roots.apply(each);
      if (rootNode != null) {
        if (each.changed()) {
          changedTrees.add(rootNode);
        }
        if (each.unsteady()) {
          unsteadyTrees.add(rootNode);
        }
        each.next().ifPresent(next -> nextOfTrees.put(rootNode, Instants.micros(next)));
      }
    }
  }

  private List<BackfillExport.TreeExport> exportTrees() {
    Set<QuotaNode> roots = new HashSet<>(changedTrees);
    roots.addAll(unsteadyTrees);
    roots.addAll(nextOfTrees.keySet());
    return roots.stream()
        .map(
            rootNode ->
                new BackfillExport.TreeExport(
                    rootNode.name(),
                    rootNode.isQueue(),
                    changedTrees.contains(rootNode),
                    unsteadyTrees.contains(rootNode),
                    Optional.ofNullable(nextOfTrees.get(rootNode)).map(Instants::ofMicros)))
        .sorted(
            Comparator.comparing(BackfillExport.TreeExport::root)
                .thenComparing(BackfillExport.TreeExport::ofQueue))
        .toList();
  }

  /**
   * Records the bound of a Workload.
   *
   * @param runs whether the Workload has quota: a later bound of one that waits is no longer run,
   *     but a larger request
   */
  public void bound(String uid, RunBound bound, boolean runs) {
    RunBound before = bounds.put(uid, bound);
    if (runs && before != null && !plans.isEmpty()) {
      for (UnknownRunTime unknown : UnknownRunTime.values()) {
        if (isLonger(before.under(unknown), bound.under(unknown))) {
          extended
              .computeIfAbsent(uid, any -> new EnumMap<>(UnknownRunTime.class))
              .put(unknown, passes);
        }
      }
    }
    if (!ends.isEmpty()) {
      ends.values().forEach(each -> each.boundChanged(uid));
    }
  }

  private static boolean isLonger(Optional<Duration> before, Optional<Duration> after) {
    return before.isPresent() && (after.isEmpty() || after.get().compareTo(before.get()) > 0);
  }

  /** Whether a bound of any Workload is known. */
  public boolean knowsBounds() {
    return !bounds.isEmpty();
  }

  /** Forgets a Workload that was deleted or has finished. */
  public void forget(String uid) {
    bounds.remove(uid);
    if (!extended.isEmpty()) {
      extended.remove(uid);
    }
  }

  /** Records that anything happened that any plan may depend on. */
  public void changed() {
    allChanged = true;
  }

  /** Records that anything happened on which only plans of a tree depend, and unsteady ones. */
  public void changed(QuotaNode rootNode) {
    changedTrees.add(rootNode);
  }

  /** Records that anything happened on which only unsteady plans depend. */
  public void changedElsewhere() {
    if (!unsteadyTrees.isEmpty()) {
      changedTrees.addAll(unsteadyTrees);
    }
  }

  /** Records that the quota trees have other shapes, or other quotas. */
  public void treesRebuilt() {
    ends.values().forEach(RunEnds::clear);
    changedTrees.clear();
    unsteadyTrees.clear();
    nextOfTrees.clear();
  }

  /** Whether to plan anew: something happened, or the first run has reached its bound. */
  public boolean isDue(Instant now) {
    return allChanged || !changedTrees.isEmpty() || Instants.micros(now) >= nextMicros;
  }

  /**
   * Begins to plan anew what may be planned otherwise now.
   *
   * @param trees the roots of all trees with plans
   * @return the roots of the trees that are planned
   */
  public List<QuotaNode> begin(Collection<QuotaNode> trees, Instant now) {
    long micros = Instants.micros(now);
    List<QuotaNode> due = new ArrayList<>();
    for (QuotaNode rootNode : trees) {
      if (allChanged
          || changedTrees.contains(rootNode)
          || micros >= nextOfTrees.getOrDefault(rootNode, QuotaProfile.NEVER)) {
        due.add(rootNode);
      }
    }
    allChanged = false;
    changedTrees.clear();
    due.forEach(
        rootNode -> {
          unsteadyTrees.remove(rootNode);
          nextOfTrees.remove(rootNode);
        });
    return due;
  }

  /** Ends it, after all queues of these trees were planned. */
  public void end() {
    passes++;
    if (!extended.isEmpty()) {
      forgetExtended();
    }
    nextMicros = QuotaProfile.NEVER;
    nextOfTrees.values().forEach(micros -> nextMicros = Math.min(nextMicros, micros));
  }

  /** Forgets later bounds that all queues with planned starts know. */
  private void forgetExtended() {
    long oldest =
        plans.values().stream()
            .filter(each -> !each.starts().isEmpty())
            .mapToLong(QueuePlans::pass)
            .min()
            .orElse(passes);
    extended
        .values()
        .removeIf(
            numbers -> {
              numbers.values().removeIf(number -> number < oldest);
              return numbers.isEmpty();
            });
  }

  /** Plans a tree anew at this time at the latest, in microseconds since the epoch. */
  public void planAgainAt(QuotaNode rootNode, long micros) {
    nextOfTrees.merge(rootNode, micros, Math::min);
  }

  /** Records that plans of a tree depend on the time, or on what happens elsewhere. */
  public void unsteady(QuotaNode rootNode) {
    unsteadyTrees.add(rootNode);
  }

  /** When runs end of which a bound counts under a rule. */
  public RunEnds ends(UnknownRunTime unknown) {
    return ends.computeIfAbsent(
        unknown,
        any -> {
          BackfillRules rules = new BackfillRules(1, unknown);
          return new RunEnds(
              holder ->
                  ResourceAmounts.add(
                      holder.reservedAtMicros(), longest(holder.id().uid(), rules)));
        });
  }

  /** Records that a Workload has quota of a queue. */
  public void holds(QuotaNode queueNode, QuotaHolder holder) {
    if (!ends.isEmpty()) {
      ends.values().forEach(each -> each.add(queueNode, holder));
    }
  }

  /** Records that a Workload has its quota no longer. */
  public void releases(QuotaHolder holder) {
    if (!ends.isEmpty()) {
      ends.values().forEach(each -> each.remove(holder));
    }
  }

  /** How long a Workload has its quota at most, in microseconds; {@link QuotaProfile#NEVER}. */
  public long longest(String uid, BackfillRules rules) {
    RunBound bound = bounds.get(uid);
    Duration limit = bound == null ? null : bound.under(rules.unknown()).orElse(null);
    return limit == null
        ? QuotaProfile.NEVER
        : (Math.min(limit.toSeconds() + 1, LONGEST) + OVERHEAD.toSeconds()) * 1_000_000;
  }

  /** Whether a bound of a Workload is known under a rule. */
  public boolean isBounded(String uid, BackfillRules rules) {
    RunBound bound = bounds.get(uid);
    return bound != null && bound.under(rules.unknown()).isPresent();
  }

  /**
   * Whether a run of a tree got a later bound since a queue was planned last.
   *
   * @param rootNode the root of the queue's tree
   */
  public boolean anyExtended(String clusterQueue, QuotaNode rootNode, UnknownRunTime unknown) {
    if (extended.isEmpty()) {
      return false;
    }
    long pass = plans.getOrDefault(clusterQueue, NO_PLANS).pass();
    RunEnds known = ends(unknown);
    return extended.entrySet().stream()
        .anyMatch(
            each ->
                each.getValue().getOrDefault(unknown, -1L) >= pass
                    && known.isIn(rootNode, each.getKey()));
  }

  /** What is planned in a queue, in queue order. */
  public List<PlannedStart> of(String clusterQueue) {
    QueuePlans known = plans.get(clusterQueue);
    return known == null ? List.of() : known.starts();
  }

  /** What happened to planned starts since the last call. */
  public List<BackfillEvent> takeEvents() {
    if (events.isEmpty()) {
      return List.of();
    }
    List<BackfillEvent> taken = List.copyOf(events);
    events.clear();
    return taken;
  }

  /** Records that a Workload is to start before one that comes before it. */
  public void backfilled(String clusterQueue, WorkloadId id) {
    events.add(
        new BackfillEvent(
            clusterQueue,
            id,
            BackfillEvent.Kind.BACKFILLED,
            planned(clusterQueue, id).map(PlannedStart::at),
            Optional.empty()));
  }

  private Optional<PlannedStart> planned(String clusterQueue, WorkloadId id) {
    for (PlannedStart each : of(clusterQueue)) {
      if (each.id().equals(id)) {
        return Optional.of(each);
      }
    }
    return Optional.empty();
  }

  /**
   * When a Workload was planned to start last, in microseconds since the epoch; {@link
   * QuotaProfile#NEVER} if it wasn't.
   */
  public long plannedAt(String clusterQueue, WorkloadId id) {
    return planned(clusterQueue, id)
        .map(start -> Instants.micros(start.at()))
        .orElse(QuotaProfile.NEVER);
  }

  /** Records that a Workload got quota. */
  public void started(String clusterQueue, WorkloadId id, boolean asHead, Instant now) {
    QueuePlans known = plans.get(clusterQueue);
    if (known == null
        || known.starts().isEmpty()
        || (!asHead && planned(clusterQueue, id).isEmpty())) {
      return;
    }
    List<PlannedStart> left = new ArrayList<>();
    Set<WorkloadId> overtakenIds = new LinkedHashSet<>(known.overtakenIds());
    boolean ahead = true;
    for (PlannedStart start : known.starts()) {
      if (start.id().equals(id)) {
        ahead = false;
        events.add(keptOrLate(clusterQueue, start, now));
      } else {
        left.add(start);
        if (asHead && ahead) {
          overtakenIds.add(start.id());
        }
      }
    }
    plans.put(
        clusterQueue,
        new QueuePlans(left, known.quotas(), List.copyOf(overtakenIds), known.pass()));
  }

  private static BackfillEvent keptOrLate(String clusterQueue, PlannedStart start, Instant now) {
    boolean kept = !now.isAfter(start.promised());
    return new BackfillEvent(
        clusterQueue,
        start.id(),
        kept ? BackfillEvent.Kind.KEPT : BackfillEvent.Kind.LATE,
        Optional.of(start.promised()),
        kept
            ? Optional.empty()
            : start.lateBy().stream().findFirst().or(() -> Optional.of(LateCause.OTHER)));
  }

  /**
   * What is known when a queue is planned anew, beside the plans.
   *
   * @param waiting gives those that wait in the queue, at least of those with a planned start
   * @param without the first Workload for which there is no time, so that those behind it have none
   *     either; empty if there is none
   * @param quotas what the queue has of each of its pairs
   * @param heldBackIds those that are planned for the end of what is kept for others, or behind one
   *     that is
   * @param beyondBound whether a run went on beyond its bound; asked for if a start moves
   * @param lent whether other queues hold quota of the queue; asked for if a start moves
   */
  public record Evidence(
      Supplier<Set<WorkloadId>> waiting,
      Optional<WorkloadId> without,
      List<PairQuota> quotas,
      Set<WorkloadId> heldBackIds,
      BooleanSupplier beyondBound,
      BooleanSupplier lent) {}

  /** Forgets what is planned in a queue where nothing is planned any more. */
  public void forgetQueue(String clusterQueue) {
    plans.remove(clusterQueue);
  }

  /** Names of the queues with plans, in no particular order. */
  public List<String> queues() {
    return List.copyOf(plans.keySet());
  }

  /**
   * Replaces what is planned in a queue.
   *
   * @param planned the Workloads and their times, in queue order
   */
  public void replace(String clusterQueue, Map<WorkloadId, Instant> planned, Evidence evidence) {
    QueuePlans before = plans.getOrDefault(clusterQueue, NO_PLANS);
    if (isSame(before, planned, evidence.quotas())) {
      plans.put(
          clusterQueue, new QueuePlans(before.starts(), before.quotas(), List.of(), passes + 1));
      return;
    }
    List<PlannedStart> starts = new ArrayList<>();
    Set<WorkloadId> ahead = new HashSet<>();
    planned.forEach(
        (id, at) -> {
          Optional<PlannedStart> known =
              before.starts().stream().filter(each -> each.id().equals(id)).findFirst();
          starts.add(
              known
                  .map(
                      start ->
                          at.isAfter(start.at())
                              ? moved(clusterQueue, start, Optional.of(at), before, ahead, evidence)
                              : new PlannedStart(id, at, start.promised(), start.lateBy()))
                  .orElseGet(() -> new PlannedStart(id, at, at, List.of())));
          ahead.add(id);
        });
    evidence.without().ifPresent(ahead::add);
    for (PlannedStart lost : before.starts()) {
      if (!planned.containsKey(lost.id()) && evidence.waiting().get().contains(lost.id())) {
        PlannedStart unused = moved(clusterQueue, lost, Optional.empty(), before, ahead, evidence);
      }
    }
    plans.put(clusterQueue, new QueuePlans(starts, evidence.quotas(), List.of(), passes + 1));
  }

  /**
   * Records that a Workload alone is planned in a queue.
   *
   * @return false, and nothing is recorded, if its planned start moves to a later time by that, or
   *     if another one had a planned start
   */
  public boolean planAlone(String clusterQueue, WorkloadId id, Instant at, List<PairQuota> quotas) {
    QueuePlans before = plans.getOrDefault(clusterQueue, NO_PLANS);
    List<PlannedStart> starts = before.starts();
    if (starts.isEmpty()) {
      starts = List.of(new PlannedStart(id, at, at, List.of()));
    } else {
      PlannedStart known = starts.getFirst();
      if (starts.size() > 1 || !known.id().equals(id) || at.isAfter(known.at())) {
        return false;
      }
      if (at.isBefore(known.at())) {
        starts = List.of(new PlannedStart(id, at, known.promised(), known.lateBy()));
      }
    }
    plans.put(clusterQueue, new QueuePlans(starts, quotas, List.of(), passes + 1));
    return true;
  }

  private static boolean isSame(
      QueuePlans before, Map<WorkloadId, Instant> planned, List<PairQuota> quotas) {
    if (before.starts().size() != planned.size()
        || !before.overtakenIds().isEmpty()
        || !before.quotas().equals(quotas)) {
      return false;
    }
    int next = 0;
    for (Map.Entry<WorkloadId, Instant> each : planned.entrySet()) {
      PlannedStart start = before.starts().get(next++);
      if (!start.id().equals(each.getKey()) || !start.at().equals(each.getValue())) {
        return false;
      }
    }
    return true;
  }

  private PlannedStart moved(
      String clusterQueue,
      PlannedStart start,
      Optional<Instant> to,
      QueuePlans before,
      Set<WorkloadId> ahead,
      Evidence evidence) {
    LateCause cause = cause(start, before, ahead, evidence);
    events.add(
        new BackfillEvent(
            clusterQueue, start.id(), BackfillEvent.Kind.MOVED, to, Optional.of(cause)));
    List<LateCause> causes = new ArrayList<>(start.lateBy());
    if (!causes.contains(cause)) {
      causes.add(cause);
    }
    return new PlannedStart(start.id(), to.orElse(start.at()), start.promised(), causes);
  }

  private static LateCause cause(
      PlannedStart start, QueuePlans before, Set<WorkloadId> ahead, Evidence evidence) {
    Set<WorkloadId> aheadBefore = new HashSet<>();
    for (PlannedStart each : before.starts()) {
      if (each.id().equals(start.id())) {
        break;
      }
      aheadBefore.add(each.id());
    }
    aheadBefore.add(start.id());
    if (before.overtakenIds().contains(start.id()) || !aheadBefore.containsAll(ahead)) {
      return LateCause.HIGHER_PRIORITY;
    }
    if (isAnyLess(evidence.quotas(), before.quotas())) {
      return LateCause.QUOTA_REDUCED;
    }
    if (evidence.beyondBound().getAsBoolean()) {
      return LateCause.RUN_BEYOND_BOUND;
    }
    if (evidence.lent().getAsBoolean()) {
      return LateCause.QUOTA_LENT;
    }
    return evidence.heldBackIds().contains(start.id()) ? LateCause.QUOTA_REDUCED : LateCause.OTHER;
  }

  private static boolean isAnyLess(List<PairQuota> quotas, List<PairQuota> before) {
    return before.stream().anyMatch(each -> isLess(of(each.flavorResource(), quotas), each));
  }

  private static boolean isLess(PairQuota quota, PairQuota before) {
    return quota.nominal() < before.nominal() || quota.most() < before.most();
  }

  private static PairQuota of(FlavorResource flavorResource, List<PairQuota> quotas) {
    return quotas.stream()
        .filter(each -> each.flavorResource().equals(flavorResource))
        .findFirst()
        .orElseGet(() -> new PairQuota(flavorResource, 0, 0));
  }
}
