package dev.sluice.core.waiting;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.waiting.CycleHeads.QueueHead;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * ClusterQueues whose heads the next cycle evaluates. The head of a StrictFIFO queue that doesn't
 * fit blocks its queue: the queue becomes active again when that head is requeued or another
 * Workload becomes the head. A head that reserves quota without being admitted yet holds a claim:
 * it takes part in every cycle of its cohort tree, but it doesn't trigger a cycle until something
 * in the tree changes.
 */
final class ActiveQueues {

  private record Block(QueuedWorkload head, Explanation explanation) {}

  /** Changes in one tree that may lead to other results for its heads. */
  private static final class Changes {
    /** The last cycle during or after which reservations changed. */
    private long last;

    /** The last cycle in which a head reserved quota that it doesn't reserve in later cycles. */
    private long lastDropped = Long.MIN_VALUE;

    /** The number of the last change of either kind. */
    private long number;

    private Changes(long last, long number) {
      this.last = last;
      this.number = number;
    }
  }

  private Map<String, ClusterQueueCache> ready = new LinkedHashMap<>();
  private final Map<String, Block> blocked = new HashMap<>();
  private final Map<QuotaNode, Map<String, ClusterQueueCache>> claims = new HashMap<>();
  private final Map<QuotaNode, Changes> changesOfTrees = new HashMap<>();
  private final SkippedHeads skippedHeads = new SkippedHeads();
  private final SkippedClasses skippedClasses = new SkippedClasses(this::holdClaimOfSkipped);

  /** Queues that are blocked because they or their cohorts have as many Workloads as they may. */
  private final Map<QuotaNode, Map<String, ClusterQueueCache>> limited = new HashMap<>();

  private final Predicate<ClusterQueueCache> otherComesFirst;
  private long lastChangeOfAll;
  private long numberOfAll;

  /** Counts changes in all trees. */
  private long changes;

  private long cycle;

  /**
   * No queue is active yet.
   *
   * @param otherComesFirst tells whether a held Workload of a queue comes before those in line, and
   *     may be the next head
   */
  ActiveQueues(Predicate<ClusterQueueCache> otherComesFirst) {
    this.otherComesFirst = otherComesFirst;
  }

  /** Which queues the next cycle evaluates, as a value; to be called between cycles. */
  WaitingExport.ActiveQueuesExport export(ExportedNames names) {
    List<WaitingExport.BlockExport> blocks = new ArrayList<>();
    new TreeMap<>(blocked)
        .forEach(
            (queue, block) ->
                blocks.add(
                    new WaitingExport.BlockExport(
                        queue, block.head.id().uid(), block.explanation)));
    List<WaitingExport.ChangesExport> ofTrees = new ArrayList<>();
    inOrder(changesOfTrees)
        .forEach(
            (root, each) ->
                ofTrees.add(
                    new WaitingExport.ChangesExport(
                        ExportedNames.nameOf(root), each.last, each.lastDropped, each.number)));
    return new WaitingExport.ActiveQueuesExport(
        List.copyOf(ready.keySet()),
        blocks,
        namesOf(claims),
        namesOf(limited),
        ofTrees,
        new WaitingExport.ChangesOfAll(lastChangeOfAll, numberOfAll, changes),
        skippedHeads.export(names),
        skippedClasses.export());
  }

  private static List<String> namesOf(Map<QuotaNode, Map<String, ClusterQueueCache>> byTree) {
    return inOrder(byTree).values().stream().flatMap(queues -> queues.keySet().stream()).toList();
  }

  private static <T> SortedMap<QuotaNode, T> inOrder(Map<QuotaNode, T> byTree) {
    SortedMap<QuotaNode, T> sorted = new TreeMap<>(ExportedNames.BY_ROOT);
    sorted.putAll(byTree);
    return sorted;
  }

  /**
   * Takes a state over, into an object without any.
   *
   * @param number the number of the last cycle
   */
  void restore(WaitingExport.ActiveQueuesExport exported, long number, ExportedNames names) {
    cycle = number;
    restore(exported.ready(), names, queue -> ready.put(queue.name(), queue));
    for (WaitingExport.BlockExport each : exported.blocked()) {
      QueuedWorkload head = names.queued(each.head());
      if (head != null) {
        blocked.put(each.clusterQueue(), new Block(head, each.explanation()));
      }
    }
    restore(exported.claims(), names, queue -> put(claims, queue));
    restore(exported.limited(), names, queue -> put(limited, queue));
    lastChangeOfAll = exported.changesOfAll().lastCycle();
    numberOfAll = exported.changesOfAll().number();
    changes = exported.changesOfAll().changes();
    for (WaitingExport.ChangesExport each : exported.changes()) {
      QuotaNode root = names.root(each.root());
      if (root != null) {
        Changes ofTree = changesOf(root);
        ofTree.last = each.last();
        ofTree.lastDropped = each.lastDropped();
        ofTree.number = each.number();
      }
    }
    skippedHeads.restore(exported.rounds(), names);
    skippedClasses.restore(exported.skipped(), names);
  }

  private static void restore(
      List<String> queues, ExportedNames names, Consumer<ClusterQueueCache> action) {
    for (String name : queues) {
      ClusterQueueCache queue = names.queue(name);
      if (queue != null) {
        action.accept(queue);
      }
    }
  }

  private static void put(
      Map<QuotaNode, Map<String, ClusterQueueCache>> byTree, ClusterQueueCache queue) {
    byTree
        .computeIfAbsent(queue.node().root(), root -> new LinkedHashMap<>())
        .put(queue.name(), queue);
  }

  /** Activates a queue whose head may have changed, unless that head blocks the queue. */
  void add(ClusterQueueCache queue) {
    if (otherComesFirst.test(queue)) {
      clear(queue);
      ready.put(queue.name(), queue);
      return;
    }
    QueuedWorkload head = queue.pending().head();
    if (head == null) {
      remove(queue);
      return;
    }
    Block block = blocked.get(queue.name());
    if (block == null || block.head != head) {
      clear(queue);
      ready.put(queue.name(), queue);
    }
  }

  /**
   * Blocks a StrictFIFO queue whose head doesn't fit: no Workload behind that head is evaluated.
   */
  void block(ClusterQueueCache queue, QueuedWorkload head, Waiting waiting) {
    ready.remove(queue.name());
    blocked.put(queue.name(), new Block(head, waiting.explanation()));
  }

  /**
   * Blocks a queue whose head holds a claim on quota: the head takes part in every cycle of its
   * tree, and no Workload behind that head is evaluated.
   */
  void holdClaim(ClusterQueueCache queue, QueuedWorkload head, Waiting waiting) {
    block(queue, head, waiting);
    put(claims, queue);
  }

  /** Blocks a queue until a Workload of its tree loses quota, or another one becomes the head. */
  void blockByLimit(ClusterQueueCache queue, QueuedWorkload head, Waiting waiting) {
    block(queue, head, waiting);
    put(limited, queue);
  }

  /** Records that a Workload of the tree lost quota: a limit on their number may have room. */
  void released(QuotaNode node) {
    Map<String, ClusterQueueCache> waiting = limited.isEmpty() ? null : limited.remove(node.root());
    if (waiting != null) {
      waiting.values().forEach(this::unblock);
    }
  }

  /**
   * The heads that the next cycle evaluates, by root of the tree; empty for a tree in which a head
   * holds a claim.
   */
  Function<QuotaNode, Optional<List<QueueHead>>> headsByTree() {
    Map<QuotaNode, List<QueueHead>> heads = new HashMap<>();
    for (ClusterQueueCache queue : ready.values()) {
      QueuedWorkload head = queue.active() ? queue.pending().head() : null;
      if (head != null) {
        heads
            .computeIfAbsent(queue.node().root(), root -> new ArrayList<>())
            .add(new QueueHead(queue, head));
      }
    }
    return root ->
        claims.containsKey(root) || skippedClasses.areIn(root)
            ? Optional.empty()
            : Optional.of(heads.getOrDefault(root, List.of()));
  }

  /** Sets the number of the cycle that begins. */
  void beginCycle(long number) {
    cycle = number;
  }

  /**
   * Records that quota reservations in a tree changed during or after the last cycle, and activates
   * the claims of the tree.
   */
  void markChanged(QuotaNode node) {
    Changes changesOfTree = changesOf(node);
    changesOfTree.last = cycle;
    changesOfTree.number = ++changes;
    activate(node);
  }

  /** Whether reservations in the tree of {@code node} changed in or after the given cycle. */
  boolean changedSince(QuotaNode node, long number) {
    Changes changesOfTree = changesOfTrees.get(node.root());
    return (changesOfTree == null ? lastChangeOfAll : changesOfTree.last) >= number;
  }

  /**
   * Records that a head reserved quota in this cycle and won't in the next one: a head that was
   * skipped because of it may fit then.
   */
  void reservationDropped(QuotaNode node) {
    Changes changesOfTree = changesOf(node);
    changesOfTree.lastDropped = cycle;
    changesOfTree.number = ++changes;
  }

  /**
   * Whether a flavor search that began in an earlier cycle may have another result if it starts
   * again: reservations in the tree changed since then, or were dropped.
   */
  boolean mayFindOthersThan(QuotaNode node, long began) {
    return changedSince(node, began) || (began < cycle && changesOf(node).lastDropped >= began);
  }

  /**
   * Records that a head was skipped because of heads before it.
   *
   * @param resumes the flavors after which its search resumes in the next cycle
   * @return whether further cycles repeat the same results, until something in the tree changes
   */
  boolean skippedAgain(ClusterQueueCache queue, QueuedWorkload head, List<Integer> resumes) {
    return skippedHeads.repeats(queue.name(), head, resumes, changesOf(queue.node()).number);
  }

  /**
   * Records that a search behind the first flavor ended.
   *
   * @return whether further cycles repeat the same results, until something in the tree changes
   */
  boolean endsSearchAgain(ClusterQueueCache queue, QueuedWorkload head) {
    return skippedHeads.endsSearchAgain(queue.name(), head, changesOf(queue.node()).number);
  }

  /** Records that the head of a queue was not skipped. */
  void notSkipped(ClusterQueueCache queue) {
    skippedHeads.forget(queue.name());
  }

  private Changes changesOf(QuotaNode node) {
    return changesOfTrees.computeIfAbsent(
        node.root(), root -> new Changes(lastChangeOfAll, numberOfAll));
  }

  /** Records that all trees changed, and that their shape may have changed. */
  void markAllChanged() {
    changesOfTrees.clear();
    limited.clear();
    lastChangeOfAll = cycle;
    numberOfAll = ++changes;
  }

  /** Activates the heads that hold a claim in the tree of {@code node}. */
  void activate(QuotaNode node) {
    if (!claims.isEmpty()) {
      ready.putAll(claims.getOrDefault(node.root(), Map.of()));
    }
    if (!skippedClasses.isEmpty()) {
      skippedClasses.changed(node.root());
    }
  }

  /** Activates the heads of each tree in which this holds for any that holds a claim. */
  void activate(Predicate<QueueHead> changed) {
    Set<QuotaNode> roots = new HashSet<>(claims.keySet());
    roots.addAll(skippedClasses.roots());
    for (QuotaNode root : roots) {
      if (Stream.concat(claimsIn(root).stream(), skippedClasses.heads(root)).anyMatch(changed)) {
        activate(root);
      }
    }
  }

  private void holdClaimOfSkipped(ClusterQueueCache queue, EquivalenceClass equivalenceClass) {
    holdClaim(
        queue,
        equivalenceClass.head(),
        new Waiting.Claiming(WaitingWorkloads.QUOTA_RESERVED_BY_OTHERS));
    if (skippedClasses.takePart(queue.node().root())) {
      ready.put(queue.name(), queue);
    }
  }

  /** Begins the next cycle: the trees whose skipped classes it evaluates. */
  Set<QuotaNode> beginSkipped() {
    return skippedClasses.begin(ready.values());
  }

  /**
   * Has the heads that hold a claim in the tree with this root take part in the cycle that begins.
   *
   * @return whether skipped classes are among them
   */
  boolean joinClaims(QuotaNode root) {
    if (!claims.isEmpty()) {
      ready.putAll(claims.getOrDefault(root, Map.of()));
    }
    return skippedClasses.join(root);
  }

  /** Ends a cycle, before its outcomes are applied: heads that it skipped hold a claim now. */
  void endCycle(CycleHeads heads) {
    for (ClusterQueueCache queue : heads.plainProcessed()) {
      queue.pending().activateSkipped();
      unblock(queue);
    }
    List<QueueHead> skipped = heads.plainSkippedHeads();
    for (QueueHead head : skipped) {
      ready.remove(head.queue().name());
      clear(head.queue());
    }
    skippedClasses.end(skipped);
    for (ClusterQueueCache queue : heads.inVain()) {
      skippedHeads.forget(queue.name());
      if (queue.pending().head() != null || otherComesFirst.test(queue)) {
        add(queue);
      }
    }
  }

  /** Makes all skipped classes active in fact, because what is known of them may not hold. */
  void activateSkipped() {
    skippedClasses.activateAll();
  }

  /** Removes the block of a queue, and activates the queue. */
  void unblock(ClusterQueueCache queue) {
    clear(queue);
    add(queue);
  }

  /**
   * The explanation for which this Workload blocks its queue; null if the Workload doesn't block
   * the queue.
   */
  @Nullable Explanation blockExplanation(String clusterQueue, QueuedWorkload item) {
    Block block = blocked.get(clusterQueue);
    return block != null && block.head == item ? block.explanation : null;
  }

  /** The head that blocks this queue; null if the queue is not blocked. */
  @Nullable QueuedWorkload blockingHead(String clusterQueue) {
    Block block = blocked.get(clusterQueue);
    return block == null ? null : block.head;
  }

  boolean isBlockedBy(String clusterQueue, EquivalenceClass equivalenceClass) {
    Block block = blocked.get(clusterQueue);
    return block != null && block.head.equivalenceClass() == equivalenceClass;
  }

  /**
   * Removes a queue that was deleted or has no active Workload; claims of other queues in its tree
   * are activated.
   */
  void remove(ClusterQueueCache queue) {
    if (holdsClaim(queue)) {
      activate(queue.node());
    }
    ready.remove(queue.name());
    skippedHeads.forget(queue.name());
    clear(queue);
  }

  /** Whether the head of a queue holds a claim. */
  boolean holdsClaim(ClusterQueueCache queue) {
    return claims.getOrDefault(queue.node().root(), Map.of()).containsKey(queue.name());
  }

  private void clear(ClusterQueueCache queue) {
    if (blocked.remove(queue.name()) == null || claims.isEmpty()) {
      return;
    }
    claims
        .values()
        .removeIf(
            claimsOfTree -> claimsOfTree.remove(queue.name()) != null && claimsOfTree.isEmpty());
  }

  boolean isEmpty() {
    return ready.isEmpty() && !skippedClasses.anyChanged();
  }

  /** The heads that hold a claim in a tree, in the order of their claims. */
  List<QueueHead> claimsIn(QuotaNode root) {
    List<QueueHead> heads = new ArrayList<>();
    for (ClusterQueueCache queue : claims.getOrDefault(root, Map.of()).values()) {
      QueuedWorkload head = blockingHead(queue.name());
      if (head != null && queue.active()) {
        heads.add(new QueueHead(queue, head));
      }
    }
    return heads;
  }

  /** Returns the queues with a claim in a tree, which don't hold it any more. */
  List<ClusterQueueCache> takeClaims(QuotaNode root) {
    Map<String, ClusterQueueCache> claimants = claims.remove(root);
    if (claimants == null) {
      return List.of();
    }
    claimants.values().forEach(queue -> blocked.remove(queue.name()));
    return List.copyOf(claimants.values());
  }

  /**
   * Returns the active queues, and the queues with a claim in the same trees, and clears the set of
   * active queues.
   */
  List<ClusterQueueCache> drain() {
    Map<String, ClusterQueueCache> all = ready;
    // A new map: clearing a map that once contained all queues costs as much as its capacity.
    ready = new LinkedHashMap<>();
    if (!claims.isEmpty()) {
      for (ClusterQueueCache queue : List.copyOf(all.values())) {
        Map<String, ClusterQueueCache> claimants = claims.remove(queue.node().root());
        if (claimants != null) {
          all.putAll(claimants);
        }
      }
    }
    all.values().forEach(queue -> blocked.remove(queue.name()));
    return new ArrayList<>(all.values());
  }

  /**
   * Heads that fitted when they were nominated, and were skipped because of heads before them. Such
   * a head tries its other flavors in the next cycles. When its search resumes where it has resumed
   * before, and no reservation in its tree has changed since, further cycles can only repeat the
   * same results.
   */
  static final class SkippedHeads {

    /**
     * The cycles that skipped a head, one after the other.
     *
     * @param changes the number of the last change in the tree before these cycles
     * @param resumed where the search of the next cycle resumed after each of them
     */
    private record Round(QueuedWorkload head, long changes, Set<List<Integer>> resumed) {

      private boolean continues(QueuedWorkload next, long number) {
        return head == next && changes == number;
      }
    }

    private static final Comparator<List<Integer>> BY_FLAVORS =
        (one, two) -> Arrays.compare(one.toArray(Integer[]::new), two.toArray(Integer[]::new));

    /** Stands among the flavors of a round in which a search ended, too. */
    private static final List<Integer> END_OF_SEARCH = List.of(Integer.MIN_VALUE);

    private final Map<String, Round> rounds = new HashMap<>();

    /** The rounds as values, in the order of queues; those of heads that are gone are left out. */
    List<WaitingExport.RoundExport> export(ExportedNames names) {
      List<WaitingExport.RoundExport> exported = new ArrayList<>();
      rounds.forEach(
          (queue, round) -> {
            if (names.isQueued(round.head)) {
              exported.add(
                  new WaitingExport.RoundExport(
                      queue,
                      round.head.id().uid(),
                      round.changes,
                      round.resumed.stream().sorted(BY_FLAVORS).toList()));
            }
          });
      exported.sort(Comparator.comparing(WaitingExport.RoundExport::clusterQueue));
      return exported;
    }

    /** Takes rounds over. */
    void restore(List<WaitingExport.RoundExport> exported, ExportedNames names) {
      for (WaitingExport.RoundExport each : exported) {
        QueuedWorkload head = names.queued(each.head());
        if (head != null) {
          rounds.put(
              each.clusterQueue(), new Round(head, each.changes(), new HashSet<>(each.resumed())));
        }
      }
    }

    /**
     * Records that a head was skipped.
     *
     * @param resumes the flavors after which the search resumes in the next cycle
     * @param changes the number of the last change in the tree
     * @return whether the search resumed there before, and nothing has changed since
     */
    boolean repeats(String clusterQueue, QueuedWorkload head, List<Integer> resumes, long changes) {
      Round round = rounds.get(clusterQueue);
      if (round == null || !round.continues(head, changes)) {
        round = new Round(head, changes, new HashSet<>());
        rounds.put(clusterQueue, round);
      }
      return !round.resumed.add(resumes);
    }

    /**
     * Records that a search behind the first flavor ended, because the head waits for preemption or
     * has no targets: a round of skips ends with it.
     *
     * @param changes the number of the last change in the tree
     * @return whether one ended so before, and nothing has changed since
     */
    boolean endsSearchAgain(String clusterQueue, QueuedWorkload head, long changes) {
      Round before =
          rounds.put(clusterQueue, new Round(head, changes, new HashSet<>(Set.of(END_OF_SEARCH))));
      return before != null
          && before.continues(head, changes)
          && before.resumed.contains(END_OF_SEARCH);
    }

    /** Forgets the head of a queue: it was not skipped this time, or it is gone. */
    void forget(String clusterQueue) {
      if (!rounds.isEmpty()) {
        rounds.remove(clusterQueue);
      }
    }
  }
}
