package dev.sluice.reference;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.ReplacedSlice;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What is known of one Workload. */
final class ReferenceEntry {

  /** Those who are equal for the scheduler. */
  record EquivalenceClass(RequestShape shape, long priority) {}

  /** Quota that a Workload holds; {@code decidedAt} is set as long as it is not written yet. */
  record Holding(
      String clusterQueue,
      LocalQueueId localQueue,
      List<PodSetAssignment> podSets,
      long priority,
      Instant queuedAt,
      Instant reservedAt,
      boolean evicted,
      boolean admitted,
      boolean podsReady,
      boolean evictable,
      boolean guaranteed,
      Optional<Long> decidedAt,
      Optional<JobSlice> slice,
      PreemptionProtection protection) {

    /** What the API server says that a Workload holds. */
    static Holding of(ReservingWorkload workload) {
      return new Holding(
          workload.clusterQueue(),
          workload.localQueue(),
          workload.podSets(),
          workload.priority(),
          workload.queuedAt(),
          workload.reservedAt(),
          workload.evicted(),
          workload.admitted(),
          workload.podsReady(),
          workload.evictable(),
          workload.guaranteed(),
          Optional.empty(),
          workload.slice(),
          workload.protection());
    }

    /** The same once the decision is written. */
    Holding written(boolean andAdmitted) {
      return new Holding(
          clusterQueue,
          localQueue,
          podSets,
          priority,
          queuedAt,
          reservedAt,
          evicted,
          andAdmitted,
          podsReady,
          evictable,
          guaranteed,
          Optional.empty(),
          slice,
          protection);
    }

    /**
     * Whether its pods have to get ready: it is admitted, or will be as soon as that is written.
     */
    boolean awaitsPods() {
      return (admitted || decidedAt.isPresent()) && !podsReady;
    }

    Map<FlavorResource, Long> usage() {
      return ReferenceEntry.usage(podSets);
    }

    /** The pod sets with places. */
    List<PodSetAssignment> placed() {
      return podSets.stream().filter(podSet -> podSet.topology().assignment().isPresent()).toList();
    }

    /** Whether the other holds as much quota, and the same places. */
    boolean sameAmountsAs(Holding other) {
      return other.usage().equals(usage()) && other.placed().equals(placed());
    }

    /** Whether the other holds the same quota of the same queue, and the same places. */
    boolean holdsTheSameAs(Holding other) {
      return other.clusterQueue.equals(clusterQueue) && sameAmountsAs(other);
    }
  }

  final WorkloadId id;
  long version;
  @Nullable PendingWorkload pending;
  @Nullable Holding holding;
  boolean aside;

  /** Whether it was aside until quota was released, and was looked at in no cycle since. */
  boolean returned;

  @Nullable Instant retryAt;
  boolean awaitsNews;

  /** How often it was tried in vain in a queue that backs off, since it came into that queue. */
  int attempts;

  /** Until when it pauses after that; null if it doesn't. */
  @Nullable Instant pausesUntil;

  int walked;

  /** What had changed in its tree when it had walked in vain; nothing if it hasn't. */
  Optional<Long> walkedInVain = Optional.empty();

  Map<ReferenceAssigner.Progress, Integer> progress = Map.of();
  long progressGeneration;
  long progressCycle;

  /** Where it was to go on with its flavors, each time that it was skipped in a row. */
  Set<Map<ReferenceAssigner.Progress, Integer>> skips = Set.of();

  /** What had changed in its tree when that row began. */
  long skippedSince;

  /** The version at which it was decided to evict it, until that is seen or refused. */
  Optional<Long> eviction = Optional.empty();

  /** What makes it a slice, as it was last said, and where. */
  Optional<JobSlice> slice = Optional.empty();

  @Nullable LocalQueueId sliceQueue;

  /** The slice that it replaces, with what that holds. */
  Optional<ReplacedSlice> replaced = Optional.empty();

  /** Whether it has to wait for the slice that it replaces. */
  boolean waitsForSlice;

  /** What it holds together with the slice that it replaces; that one is charged for it. */
  Map<FlavorResource, Long> shared = Map.of();

  /** Whether that is known: it held quota already when it was found out what is shared. */
  boolean sharedKnown;

  /** The pod sets of that slice with places. */
  List<PodSetAssignment> sharedPlaces = List.of();

  /** Whether its replacement is admitted, so that its eviction would be in vain. */
  boolean succeeded;

  ReferenceEntry(WorkloadId id) {
    this.id = id;
  }

  /** What pod sets use, by pair. */
  static Map<FlavorResource, Long> usage(List<PodSetAssignment> podSets) {
    Map<FlavorResource, Long> usage = new HashMap<>();
    for (PodSetAssignment set : podSets) {
      set.usage()
          .forEach(
              (resource, amount) -> {
                String flavor = set.flavors().get(resource);
                if (flavor != null) {
                  usage.merge(new FlavorResource(flavor, resource), amount, ResourceAmounts::add);
                }
              });
    }
    return usage;
  }

  /** It is the head of a cycle. */
  ReferenceEntry lookedAt() {
    returned = false;
    return this;
  }

  /** Whether it stands aside, and how far its search through the flavors came. */
  record Search(
      boolean aside,
      boolean returned,
      int walked,
      Optional<Long> walkedInVain,
      Map<ReferenceAssigner.Progress, Integer> progress,
      long progressGeneration,
      long progressCycle,
      Set<Map<ReferenceAssigner.Progress, Integer>> skips,
      long skippedSince) {}

  Search search() {
    return new Search(
        aside,
        returned,
        walked,
        walkedInVain,
        progress,
        progressGeneration,
        progressCycle,
        skips,
        skippedSince);
  }

  void search(Search before) {
    aside = before.aside();
    returned = before.returned();
    walked = before.walked();
    walkedInVain = before.walkedInVain();
    progress = before.progress();
    progressGeneration = before.progressGeneration();
    progressCycle = before.progressCycle();
    skips = before.skips();
    skippedSince = before.skippedSince();
  }

  /**
   * It was skipped, and is to go on where its progress says.
   *
   * @param changes how often something has changed in its tree
   * @return whether it was to go on there before, and nothing has changed since
   */
  boolean comesAround(long changes) {
    Set<Map<ReferenceAssigner.Progress, Integer>> all =
        new HashSet<>(changes == skippedSince ? skips : Set.of());
    boolean again = !all.add(progress);
    skips = all;
    skippedSince = changes;
    return again;
  }

  /** Whether both ask for the same. */
  static boolean sameButForVersion(PendingWorkload a, PendingWorkload b) {
    return a.queueName().equals(b.queueName())
        && a.shape().equals(b.shape())
        && a.priority() == b.priority()
        && a.queuedAt().equals(b.queuedAt())
        && a.notBefore().equals(b.notBefore())
        && a.held() == b.held()
        && a.defect().equals(b.defect())
        && a.gated() == b.gated()
        && a.evictable() == b.evictable()
        && a.history().equals(b.history());
  }

  /** Whether it was in another LocalQueue before. */
  boolean isOfAnother(LocalQueueId localQueue) {
    LocalQueueId before =
        holding != null ? holding.localQueue() : pending == null ? null : pending.localQueue();
    return before != null && !before.equals(localQueue);
  }

  boolean waits() {
    return pending != null && holding == null;
  }

  boolean assumed() {
    return holding != null && holding.decidedAt().isPresent();
  }

  PendingWorkload workload() {
    return Objects.requireNonNull(pending);
  }

  /** What it asks for, in place of the slice that it replaces. */
  RequestShape shape() {
    return workload().shape().replacing(replaced);
  }

  /**
   * From when on it may preempt; nothing if no rule delays that.
   *
   * @param ofQueue the rules of the queue that it waits in, and of the cohorts above
   */
  Optional<Instant> preemptsFrom(PreemptionRules ofQueue) {
    PendingWorkload asked = workload();
    Instant evicted = asked.history().since().orElse(Instant.MIN);
    Instant since = evicted.isAfter(asked.queuedAt()) ? evicted : asked.queuedAt();
    return asked.shape().preemption().or(ofQueue).delay().map(since::plus);
  }

  /** What it holds beyond what it shares. */
  Map<FlavorResource, Long> charged() {
    Map<FlavorResource, Long> charged = new HashMap<>(Objects.requireNonNull(holding).usage());
    charged.replaceAll((pair, amount) -> Math.max(0, amount - shared.getOrDefault(pair, 0L)));
    return charged;
  }

  EquivalenceClass equivalenceClass() {
    return new EquivalenceClass(shape(), workload().priority());
  }

  /** As preemption sees it; it must hold quota. */
  ReferenceHolder holder() {
    Holding held = Objects.requireNonNull(holding);
    return new ReferenceHolder(
        id,
        version,
        held.localQueue(),
        held.clusterQueue(),
        charged(),
        held.priority(),
        held.queuedAt(),
        held.reservedAt(),
        held.evicted() || eviction.isPresent(),
        held.evictable() && !succeeded,
        held.guaranteed(),
        held.placed(),
        sharedPlaces,
        held.protection());
  }
}
