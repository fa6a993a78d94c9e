package dev.sluice.reference;

import dev.sluice.model.Amounts;
import dev.sluice.model.ClusterQueueSpec;
import dev.sluice.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.model.CohortSpec;
import dev.sluice.model.Fact;
import dev.sluice.model.Flavor;
import dev.sluice.model.FlavorResource;
import dev.sluice.model.LocalQueueId;
import dev.sluice.model.LocalQueueSpec;
import dev.sluice.model.PendingWorkload;
import dev.sluice.model.PodSetAssignment;
import dev.sluice.model.Quota;
import dev.sluice.model.ReservingWorkload;
import dev.sluice.model.WorkloadId;
import dev.sluice.model.WorkloadShape;
import dev.sluice.reference.ReferenceAssigner.Mode;
import dev.sluice.reference.ReferenceAssigner.Result;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The engine as the contract tells it: in each cycle one head per active ClusterQueue, everything
 * worked out anew from a copy of the world, everything parked woken at every flush.
 */
final class ReferenceEngine {

  /** An admission that was decided. */
  record Admission(
      WorkloadId id, long version, String clusterQueue, List<PodSetAssignment> podSets) {}

  private record EquivalenceClass(WorkloadShape shape, long priority) {}

  /** Quota that a Workload holds; {@code decidedAt} is set as long as it is not written yet. */
  private record Holding(
      String clusterQueue,
      LocalQueueId localQueue,
      List<PodSetAssignment> podSets,
      boolean admitted,
      Optional<Long> decidedAt) {

    Map<FlavorResource, Long> usage() {
      return ReferenceEngine.usage(podSets);
    }
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
                  usage.merge(new FlavorResource(flavor, resource), amount, Amounts::add);
                }
              });
    }
    return usage;
  }

  private static final class Entry {
    final WorkloadId id;
    long version;
    @Nullable PendingWorkload pending;
    @Nullable Holding holding;
    boolean aside;
    @Nullable Instant retryAt;
    boolean awaitsNews;
    int walked;
    Map<ReferenceAssigner.Progress, Integer> progress = Map.of();
    long progressGeneration;
    long progressCycle;

    Entry(WorkloadId id) {
      this.id = id;
    }

    boolean waits() {
      return pending != null && holding == null;
    }

    boolean assumed() {
      return holding != null && holding.decidedAt().isPresent();
    }
  }

  /** What is looked at anew. */
  enum Waking {
    /** After a flush every class that was parked; in each cycle the head of a StrictFIFO queue. */
    ALL,
    /**
     * Only those of which some lack is over when their turn comes: others would be found not to fit
     * again.
     */
    HELPED
  }

  /** The head of a StrictFIFO queue that doesn't fit until some of its lacks is over. */
  private record Block(String uid, Result result) {}

  private final Duration refusedPause;
  private final Waking waking;
  private final int longestWalk;
  private final boolean simulating;
  private final Map<String, Flavor> flavors = new TreeMap<>();
  private final Map<String, ClusterQueueSpec> queues = new TreeMap<>();
  private final Map<String, CohortSpec> cohorts = new TreeMap<>();
  private final Map<LocalQueueId, LocalQueueSpec> localQueues = new TreeMap<>();
  private final Map<String, Map<String, String>> namespaces = new TreeMap<>();
  private final Map<String, Entry> workloads = new TreeMap<>();
  private final Map<String, Map<EquivalenceClass, Result>> parked = new TreeMap<>();
  private final Map<String, Set<EquivalenceClass>> flushed = new TreeMap<>();
  private final Map<String, Block> blocked = new TreeMap<>();
  private final Map<String, Long> generations = new HashMap<>();
  private final Set<String> released = new HashSet<>();
  private Instant now = Instant.EPOCH;
  private boolean deciding;
  private long cycles;
  private boolean looked;

  /**
   * An engine that knows nothing.
   *
   * @param refusedPause how long a Workload rests whose admission could not be written
   * @param waking what a flush wakes
   * @param longestWalk how often in a row a Workload is looked at because of untried flavors
   * @param simulating whether those that would need preemption keep what is free for themselves
   */
  ReferenceEngine(Duration refusedPause, Waking waking, int longestWalk, boolean simulating) {
    this.refusedPause = refusedPause;
    this.waking = waking;
    this.longestWalk = longestWalk;
    this.simulating = simulating;
  }

  void fold(Fact fact) {
    switch (fact) {
      case Fact.FlavorChanged(var flavor) -> {
        if (!flavor.equals(flavors.put(flavor.name(), flavor))) {
          declarationsChanged();
        }
      }
      case Fact.FlavorRemoved(var name) -> {
        if (flavors.remove(name) != null) {
          declarationsChanged();
        }
      }
      case Fact.ClusterQueueChanged(var queue) -> {
        if (!queue.equals(queues.put(queue.name(), queue))) {
          workloads.values().stream()
              .filter(entry -> entry.waits() && queueOf(entry).equals(Optional.of(queue.name())))
              .forEach(entry -> entry.progress = Map.of());
          declarationsChanged();
        }
      }
      case Fact.ClusterQueueRemoved(var name) -> {
        if (queues.remove(name) != null) {
          declarationsChanged();
          workloads.values().stream()
              .filter(entry -> entry.waits() && queueOf(entry).equals(Optional.of(name)))
              .forEach(this::reenter);
        }
      }
      case Fact.CohortChanged(var cohort) -> {
        if (!cohort.equals(cohorts.put(cohort.name(), cohort))) {
          declarationsChanged();
        }
      }
      case Fact.CohortRemoved(var name) -> {
        if (cohorts.remove(name) != null) {
          declarationsChanged();
        }
      }
      case Fact.LocalQueueChanged(var queue) -> {
        if (!queue.equals(localQueues.put(queue.id(), queue))) {
          localQueueChanged(queue.id());
        }
      }
      case Fact.LocalQueueRemoved(var id) -> {
        if (localQueues.remove(id) != null) {
          localQueueChanged(id);
        }
      }
      case Fact.NamespaceChanged(var name, var labels) -> {
        if (!labels.equals(namespaces.put(name, labels))) {
          namespaceChanged(name);
        }
      }
      case Fact.NamespaceRemoved(var name) -> {
        if (namespaces.remove(name) != null) {
          namespaceChanged(name);
        }
      }
      case Fact.WorkloadPending(var workload) -> pending(workload);
      case Fact.WorkloadReserving(var workload) -> reserving(workload);
      case Fact.WorkloadReleased(var id, var version) -> {
        Entry entry = workloads.get(id.uid());
        if (entry != null && version >= entry.version) {
          hold(entry, null);
          blocked.values().removeIf(block -> block.uid().equals(id.uid()));
          workloads.remove(id.uid());
        }
      }
      case Fact.AdmissionWritten(var id, var version) -> {
        Entry entry = workloads.get(id.uid());
        if (entry != null && version > entry.version && entry.assumed()) {
          Holding holding = Objects.requireNonNull(entry.holding);
          entry.version = version;
          entry.pending = null;
          entry.holding =
              new Holding(
                  holding.clusterQueue(),
                  holding.localQueue(),
                  holding.podSets(),
                  true,
                  Optional.empty());
        }
      }
      case Fact.EvictionRefused refused -> {
        // Nothing is preempted yet.
      }
      case Fact.AdmissionRefused(var id, var decided, var superseded) ->
          refused(id, decided, superseded);
      case Fact.TimePassed(var instant) -> {
        List<Entry> resting =
            workloads.values().stream()
                .filter(entry -> entry.waits() && entry.aside && backingOff(entry))
                .toList();
        now = instant;
        resting.stream().filter(entry -> !backingOff(entry)).forEach(this::enter);
      }
      case Fact.DecidingEnabled(var enabled) -> deciding = enabled;
    }
    forgetEmptyClasses();
    forgetPassedBlocks();
  }

  private void namespaceChanged(String name) {
    bringBackThoseInOrder();
    blocked.values().removeIf(block -> idOf(block.uid()).namespace().equals(name));
  }

  /** Everything that is parked is looked at anew. */
  private void declarationsChanged() {
    parked.clear();
    blocked.clear();
    queues.keySet().forEach(queue -> generations.merge(queue, 1L, Long::sum));
    bringBackThoseInOrder();
  }

  private void bringBackThoseInOrder() {
    for (Entry entry : workloads.values()) {
      if (entry.waits() && entry.aside && !mustStayAside(entry)) {
        entry.aside = false;
      }
    }
  }

  private void localQueueChanged(LocalQueueId id) {
    for (Entry entry : workloads.values()) {
      if (entry.waits() && Objects.requireNonNull(entry.pending).localQueue().equals(id)) {
        reenter(entry);
      }
    }
  }

  private void pending(PendingWorkload workload) {
    Entry entry = workloads.computeIfAbsent(workload.id().uid(), any -> new Entry(workload.id()));
    PendingWorkload before = entry.pending;
    boolean waited = entry.waits();
    if (workload.version() < entry.version
        || (workload.version() == entry.version && !waited)
        || (before != null && workload.equals(before))) {
      return;
    }
    entry.version = workload.version();
    entry.pending = workload;
    hold(entry, null);
    boolean stays =
        waited
            && before != null
            && sameButForVersion(before, workload)
            && !(entry.awaitsNews || entry.retryAt != null);
    if (!stays) {
      enter(entry);
    }
  }

  private static boolean sameButForVersion(PendingWorkload a, PendingWorkload b) {
    return a.queueName().equals(b.queueName())
        && a.shape().equals(b.shape())
        && a.priority() == b.priority()
        && a.queuedAt().equals(b.queuedAt())
        && a.notBefore().equals(b.notBefore())
        && a.held() == b.held()
        && a.defect().equals(b.defect());
  }

  private void reserving(ReservingWorkload workload) {
    Entry entry = workloads.computeIfAbsent(workload.id().uid(), any -> new Entry(workload.id()));
    boolean known = entry.holding != null && !entry.assumed();
    if (workload.version() < entry.version || (workload.version() == entry.version && !known)) {
      return;
    }
    entry.version = workload.version();
    entry.pending = null;
    hold(
        entry,
        new Holding(
            workload.clusterQueue(),
            workload.localQueue(),
            workload.podSets(),
            workload.admitted(),
            Optional.empty()));
  }

  private void refused(WorkloadId id, long decided, boolean superseded) {
    Entry entry = workloads.get(id.uid());
    if (entry == null || !entry.assumed() || entry.version != decided) {
      return;
    }
    hold(entry, null);
    enter(entry);
    entry.aside = true;
    entry.awaitsNews = superseded;
    entry.retryAt = superseded ? null : now.plus(refusedPause);
  }

  /** Changes what a Workload holds, and remembers whose tree may profit. */
  private void hold(Entry entry, @Nullable Holding holding) {
    Holding before = entry.holding;
    entry.holding = holding;
    if (before == null
        || (holding != null
            && holding.clusterQueue().equals(before.clusterQueue())
            && holding.usage().equals(before.usage()))) {
      return;
    }
    generations.merge(before.clusterQueue(), 1L, Long::sum);
    if (queues.containsKey(before.clusterQueue())) {
      released.add(before.clusterQueue());
    }
  }

  /** A Workload comes into its queue as if it were new. */
  private void enter(Entry entry) {
    blocked.values().removeIf(block -> block.uid().equals(entry.id.uid()));
    entry.retryAt = null;
    entry.awaitsNews = false;
    entry.progress = Map.of();
    entry.walked = 0;
    entry.aside = backingOff(entry);
  }

  /** Its queue went or came: it starts anew there, but a rest isn't over by that. */
  private void reenter(Entry entry) {
    Instant rest = entry.retryAt;
    boolean awaitsNews = entry.awaitsNews;
    enter(entry);
    entry.retryAt = rest;
    entry.awaitsNews = awaitsNews;
    entry.aside = backingOff(entry);
  }

  /** Back-off, or a namespace that is not in order. */
  private boolean mustStayAside(Entry entry) {
    return backingOff(entry) || !namespaceMatches(entry) || setAsideByDefect(entry);
  }

  private boolean setAsideByDefect(Entry entry) {
    return Objects.requireNonNull(entry.pending).defect().isPresent()
        && queueOf(entry)
            .map(queues::get)
            .filter(queue -> queue.strategy() == QueueingStrategy.STRICT_FIFO)
            .isEmpty();
  }

  private boolean backingOff(Entry entry) {
    PendingWorkload pending = Objects.requireNonNull(entry.pending);
    return pending.held()
        || entry.awaitsNews
        || pending.notBefore().filter(until -> until.isAfter(now)).isPresent()
        || (entry.retryAt != null && entry.retryAt.isAfter(now));
  }

  private Optional<String> queueOf(Entry entry) {
    LocalQueueSpec local =
        entry.pending == null ? null : localQueues.get(entry.pending.localQueue());
    return local == null || local.stopPolicy() != StopPolicy.NONE
        ? Optional.empty()
        : Optional.of(local.clusterQueue());
  }

  private boolean namespaceMatches(Entry entry) {
    ClusterQueueSpec queue = queueOf(entry).map(queues::get).orElse(null);
    Map<String, String> labels = namespaces.get(entry.id.namespace());
    return queue != null && labels != null && queue.namespaceSelector().matches(labels);
  }

  private static EquivalenceClass classOf(Entry entry) {
    PendingWorkload pending = Objects.requireNonNull(entry.pending);
    return new EquivalenceClass(pending.shape(), pending.priority());
  }

  private boolean isParked(Entry entry, String queue, ReferenceTree tree) {
    Result result = parked.getOrDefault(queue, Map.of()).get(classOf(entry));
    return result != null
        && !(flushed.getOrDefault(queue, Set.of()).contains(classOf(entry))
            && helped(queue, result, tree));
  }

  private void unpark(Entry entry, String queue) {
    parked.getOrDefault(queue, new HashMap<>()).remove(classOf(entry));
    flushed.getOrDefault(queue, new HashSet<>()).remove(classOf(entry));
  }

  /** That a class doesn't fit is remembered as long as somebody belongs to it. */
  private void forgetEmptyClasses() {
    parked.forEach(
        (queue, classes) -> {
          Set<EquivalenceClass> inhabited = new HashSet<>();
          for (Entry entry : waitingIn(queue)) {
            inhabited.add(classOf(entry));
          }
          classes.keySet().retainAll(inhabited);
        });
  }

  /** The flush: whatever may fit after quota was given back is looked at anew. */
  private void wake(ReferenceTree tree) {
    Set<String> affected = new HashSet<>();
    released.stream().filter(queues::containsKey).forEach(name -> affected.addAll(tree.tree(name)));
    released.clear();
    for (String queue : affected) {
      Map<EquivalenceClass, Result> classes = parked.getOrDefault(queue, new HashMap<>());
      classes
          .values()
          .removeIf(
              result -> waking == Waking.ALL || (result.competing() && !result.lacks().isEmpty()));
      flushed.computeIfAbsent(queue, any -> new HashSet<>()).addAll(classes.keySet());
      Block block = blocked.get(queue);
      if (block != null && helped(queue, block.result(), tree)) {
        blocked.remove(queue);
      }
    }
  }

  private boolean helped(String queue, Result result, ReferenceTree tree) {
    return waking == Waking.ALL
        || (result.competing() && !result.lacks().isEmpty())
        || result.lacks().stream()
            .anyMatch(lack -> tree.available(queue, lack.pair()) >= lack.amount());
  }

  /** A block is over when another one is the head. */
  private void forgetPassedBlocks() {
    blocked
        .entrySet()
        .removeIf(
            each ->
                waitingIn(each.getKey()).stream()
                    .findFirst()
                    .filter(head -> !head.id.uid().equals(each.getValue().uid()))
                    .isPresent());
  }

  /** The quota tree with all that is held. */
  ReferenceTree tree() {
    ReferenceTree tree = new ReferenceTree(queues, cohorts);
    for (Entry entry : workloads.values()) {
      if (entry.holding != null) {
        tree.add(entry.holding.clusterQueue(), entry.holding.usage());
      }
    }
    return tree;
  }

  private boolean active(ClusterQueueSpec queue) {
    return queue.stopPolicy() == StopPolicy.NONE
        && !queue.terminating()
        && queue.problems().isEmpty()
        && queue.groups().stream()
            .flatMap(group -> group.flavors().stream())
            .allMatch(each -> flavors.containsKey(each.flavor()));
  }

  private static final Comparator<Entry> QUEUE_ORDER =
      Comparator.comparing((Entry entry) -> -Objects.requireNonNull(entry.pending).priority())
          .thenComparing(entry -> Objects.requireNonNull(entry.pending).queuedAt())
          .thenComparing(entry -> entry.id.uid());

  /** Those of a queue that are not set aside, in order. */
  private List<Entry> waitingIn(String queue) {
    return workloads.values().stream()
        .filter(entry -> entry.waits() && !entry.aside)
        .filter(entry -> queueOf(entry).equals(Optional.of(queue)))
        .sorted(QUEUE_ORDER)
        .toList();
  }

  private record Nominated(Entry entry, ClusterQueueSpec queue, Result result) {}

  /** One cycle: who was admitted, in order. */
  List<Admission> cycle() {
    looked = false;
    if (!deciding) {
      return List.of();
    }
    cycles++;
    ReferenceTree tree = tree();
    wake(tree);
    List<Nominated> nominated = new ArrayList<>();
    for (ClusterQueueSpec queue : queues.values()) {
      if (active(queue) && !tree.cyclic(queue.name())) {
        waitingIn(queue.name()).stream()
            .filter(entry -> !isParked(entry, queue.name(), tree))
            .findFirst()
            .filter(head -> !blocked.containsKey(queue.name()))
            .flatMap(head -> nominate(head, queue, tree))
            .ifPresent(nominated::add);
      }
    }
    nominated.sort(
        Comparator.comparing((Nominated each) -> each.result().borrowLevel())
            .thenComparing(Nominated::entry, QUEUE_ORDER));
    List<Admission> admissions = new ArrayList<>();
    for (Nominated each : nominated) {
      process(each, tree).ifPresent(admissions::add);
    }
    forgetEmptyClasses();
    forgetPassedBlocks();
    return admissions;
  }

  /** Whether the last cycle found anything that it could change. */
  boolean looked() {
    return looked;
  }

  private Optional<Nominated> nominate(Entry head, ClusterQueueSpec queue, ReferenceTree tree) {
    if (!namespaceMatches(head)) {
      head.aside = true;
      looked = true;
      return Optional.empty();
    }
    if (Objects.requireNonNull(head.pending).defect().isPresent()) {
      head.aside = setAsideByDefect(head);
      looked |= head.aside;
      return Optional.empty();
    }
    unpark(head, queue.name());
    long generation = generations.getOrDefault(queue.name(), 0L);
    boolean keep = head.progressGeneration == generation || head.progressCycle >= cycles - 1;
    Map<ReferenceAssigner.Progress, Integer> resume = keep ? head.progress : Map.of();
    Result result = assign(head, queue, tree, resume);
    head.progress = Map.of();
    if (result.mode() != Mode.FIT && !walksOn(head, result) && !resume.isEmpty()) {
      result = assign(head, queue, tree, Map.of());
      head.walked = longestWalk;
    }
    return Optional.of(new Nominated(head, queue, result));
  }

  /** Untried flavors can only help where pod sets compete for the same quota. */
  private boolean walksOn(Entry entry, Result result) {
    return result.untriedFlavorsLeft() && result.competing() && entry.walked < longestWalk;
  }

  private Result assign(
      Entry entry,
      ClusterQueueSpec queue,
      ReferenceTree tree,
      Map<ReferenceAssigner.Progress, Integer> resume) {
    return new ReferenceAssigner(tree, queue, flavors, resume, simulating)
        .assign(Objects.requireNonNull(entry.pending).shape());
  }

  private Optional<Admission> process(Nominated nominated, ReferenceTree tree) {
    Entry entry = nominated.entry();
    String queue = nominated.queue().name();
    Result result = nominated.result();
    if (result.mode() != Mode.FIT) {
      if (result.mode() == Mode.NO_CANDIDATES) {
        tree.add(queue, reservation(nominated, tree));
      }
      requeue(nominated);
      return Optional.empty();
    }
    boolean fits =
        result.usage().entrySet().stream()
            .allMatch(each -> each.getValue() <= tree.available(queue, each.getKey()));
    if (!fits) {
      remember(nominated);
      entry.walked = 0;
      return Optional.empty(); // stays in line
    }
    looked = true;
    tree.add(queue, result.usage());
    PendingWorkload workload = Objects.requireNonNull(entry.pending);
    entry.holding =
        new Holding(
            queue, workload.localQueue(), result.podSets(), false, Optional.of(workload.version()));
    return Optional.of(new Admission(entry.id, workload.version(), queue, result.podSets()));
  }

  private void remember(Nominated nominated) {
    Entry entry = nominated.entry();
    entry.progress =
        nominated.result().untriedFlavorsLeft() ? nominated.result().progress() : Map.of();
    entry.progressGeneration = generations.getOrDefault(nominated.queue().name(), 0L);
    entry.progressCycle = cycles;
  }

  /** What is kept free for one that would have to preempt, but finds no victims. */
  private static Map<FlavorResource, Long> reservation(Nominated nominated, ReferenceTree tree) {
    String queue = nominated.queue().name();
    Map<FlavorResource, Long> reserved = new HashMap<>();
    nominated
        .result()
        .usage()
        .forEach(
            (pair, request) -> {
              Quota quota = tree.quotaOfQueue(queue, pair);
              long used = tree.usageOfQueue(queue, pair);
              long amount;
              if (nominated.result().borrowLevel() == 0) {
                amount = Math.max(0, Math.min(request, quota.nominal() - used));
              } else if (quota.borrowingLimit() == Amounts.UNLIMITED) {
                amount = request;
              } else {
                amount = Math.min(request, quota.nominal() + quota.borrowingLimit() - used);
              }
              reserved.put(pair, amount);
            });
    return reserved;
  }

  private void requeue(Nominated nominated) {
    Entry entry = nominated.entry();
    if (walksOn(entry, nominated.result())) {
      entry.walked++;
      looked = true;
      remember(nominated);
    } else {
      entry.walked = 0;
      if (nominated.queue().strategy() == QueueingStrategy.BEST_EFFORT_FIFO) {
        looked = true;
        parked
            .computeIfAbsent(nominated.queue().name(), any -> new HashMap<>())
            .put(classOf(entry), nominated.result());
      } else if (waking == Waking.HELPED) {
        blocked.put(nominated.queue().name(), new Block(entry.id.uid(), nominated.result()));
      }
    }
  }

  // What follows is for tests to look at.

  /**
   * Who may still be admitted although nothing is said to be left to do; empty if all is well.
   * Those that were parked because their pod sets compete don't count: when others take quota, a
   * pod set may be driven to another flavor, so that suddenly all fit; nobody looks until the next
   * flush.
   */
  List<WorkloadId> wouldFit() {
    ReferenceTree tree = tree();
    List<WorkloadId> result = new ArrayList<>();
    for (ClusterQueueSpec queue : queues.values()) {
      if (!deciding || !active(queue) || tree.cyclic(queue.name())) {
        continue;
      }
      for (Entry entry : waitingIn(queue.name())) {
        boolean barred =
            !namespaceMatches(entry) || Objects.requireNonNull(entry.pending).defect().isPresent();
        Result before = parked.getOrDefault(queue.name(), Map.of()).get(classOf(entry));
        Block block = blocked.get(queue.name());
        boolean competing =
            (before != null && before.competing()) || (block != null && block.result().competing());
        if (!barred && !competing && assign(entry, queue, tree, Map.of()).mode() == Mode.FIT) {
          result.add(entry.id);
        }
        if (queue.strategy() == QueueingStrategy.STRICT_FIFO) {
          break;
        }
      }
    }
    return result;
  }

  /** Those who wait before this one in its queue and could have been admitted in its stead. */
  List<WorkloadId> skippedBy(WorkloadId id, String clusterQueue) {
    ReferenceTree tree = tree();
    ClusterQueueSpec queue = Objects.requireNonNull(queues.get(clusterQueue));
    List<WorkloadId> result = new ArrayList<>();
    for (Entry entry : waitingIn(clusterQueue)) {
      if (entry.id.equals(id)) {
        return result;
      }
      boolean strict = queue.strategy() == QueueingStrategy.STRICT_FIFO;
      boolean fits =
          namespaceMatches(entry)
              && Objects.requireNonNull(entry.pending).defect().isEmpty()
              && assign(entry, queue, tree, Map.of()).mode() == Mode.FIT;
      if ((strict && namespaceMatches(entry)) || fits) {
        result.add(entry.id);
      }
    }
    throw new AssertionError(id + " doesn't wait in " + clusterQueue);
  }

  Optional<PendingWorkload> pendingOf(String uid) {
    Entry entry = workloads.get(uid);
    return entry == null || !entry.waits() ? Optional.empty() : Optional.ofNullable(entry.pending);
  }

  /** Versions that were decided on and are not answered yet, by UID. */
  Map<String, Long> assumed() {
    Map<String, Long> result = new TreeMap<>();
    workloads.forEach(
        (uid, entry) -> {
          if (entry.assumed()) {
            result.put(uid, entry.version);
          }
        });
    return result;
  }

  /** Who holds quota as the API server says. */
  List<String> holders() {
    return workloads.entrySet().stream()
        .filter(each -> each.getValue().holding != null && !each.getValue().assumed())
        .map(Map.Entry::getKey)
        .toList();
  }

  /** What a holder holds. */
  List<PodSetAssignment> heldBy(String uid) {
    Holding holding = Objects.requireNonNull(workloads.get(uid)).holding;
    return holding == null ? List.of() : holding.podSets();
  }

  String clusterQueueOf(String uid) {
    Holding holding = Objects.requireNonNull(workloads.get(uid)).holding;
    return holding == null ? "" : holding.clusterQueue();
  }

  WorkloadId idOf(String uid) {
    return Objects.requireNonNull(workloads.get(uid)).id;
  }

  LocalQueueId localQueueOf(String uid) {
    Entry entry = Objects.requireNonNull(workloads.get(uid));
    return entry.holding != null
        ? entry.holding.localQueue()
        : Objects.requireNonNull(entry.pending).localQueue();
  }

  Map<String, ClusterQueueSpec> queues() {
    return queues;
  }

  /** How many wait in a ClusterQueue, hold its quota, and are admitted there. */
  record Counts(int pending, int reserving, int admitted) {}

  Counts counts(String queue) {
    int pending = 0;
    int reserving = 0;
    int admitted = 0;
    for (Entry entry : workloads.values()) {
      if (entry.waits() && queueOf(entry).equals(Optional.of(queue))) {
        pending++;
      }
      if (entry.holding != null && entry.holding.clusterQueue().equals(queue)) {
        reserving++;
        admitted += entry.holding.admitted() ? 1 : 0;
      }
    }
    return new Counts(pending, reserving, admitted);
  }
}
