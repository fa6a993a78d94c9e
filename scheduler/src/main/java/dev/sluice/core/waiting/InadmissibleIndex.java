package dev.sluice.core.waiting;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.waiting.ClusterQueueInadmissibleIndex.Requirement;
import dev.sluice.core.waiting.CycleHeads.QueueHead;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Inadmissible classes by tree and queue, so that a release of quota requeues only classes that may
 * fit. A class may fit when at least one of its missing amounts is available, or when its
 * preemption targets hold enough; until then it can't fit, whatever else happens. Confined to the
 * scheduler thread.
 */
final class InadmissibleIndex {

  /** An inadmissible class, and its queue. */
  record InadmissibleQueue(ClusterQueueCache queue, EquivalenceClass equivalenceClass) {}

  /**
   * What the next cycle has to evaluate after releases of quota.
   *
   * @param classes the classes whose heads are evaluated
   * @param leftOut the queues of classes that may fit, but will get no quota beside the others.
   *     Workloads behind them must not be evaluated in the same cycle: they would pass them. Where
   *     the head blocks its queue, nobody is behind the class but those it blocks.
   * @param plain classes whose heads are evaluated, too, and need no outcome if they are skipped
   * @param inVain queues whose skipped classes don't fit any more, and find no targets: this cycle
   *     is their turn, so that nobody else of these queues is evaluated
   */
  record Candidates(
      List<InadmissibleQueue> classes,
      Set<ClusterQueueCache> leftOut,
      List<QueueHead> plain,
      List<ClusterQueueCache> inVain) {

    /** Nothing to evaluate. */
    static final Candidates NONE = new Candidates(List.of(), Set.of(), List.of(), List.of());
  }

  /**
   * What a cycle that begins has to do beside the inadmissible classes.
   *
   * @param activeHeads the active heads of a tree that take part in the next cycle; empty if they
   *     are not known. Inadmissible classes that will get no quota beside them are left out.
   * @param isIneligible whether a Workload can't get quota, however much is free
   * @param maySkip whether heads of a tree may be skipped without an outcome
   * @param skippedTrees the roots of trees whose skipped classes take part in the cycle
   * @param joinClaims has the claims of a tree take part in the cycle; tells whether skipped
   *     classes are among them
   */
  record Surrounding(
      Function<QuotaNode, Optional<List<QueueHead>>> activeHeads,
      Predicate<QueueHead> isIneligible,
      Predicate<QuotaNode> maySkip,
      Set<QuotaNode> skippedTrees,
      Predicate<QuotaNode> joinClaims) {}

  /** The inadmissible classes of one tree. */
  private static final class Tree {
    private final Map<ClusterQueueCache, ClusterQueueInadmissibleIndex> queues =
        new LinkedHashMap<>();

    /** Counts releases of quota, and other events after which a class may fit. */
    private long events;

    private LeastMissing leastMissing = new LeastMissing();
    private int looksInVain;

    /**
     * Computes the least missing amounts anew, without those of classes that are gone; once in many
     * looks, because it costs as much as several of them.
     */
    void lookedInVain() {
      if (!leastMissing.preempts() && ++looksInVain % LOOKS_IN_VAIN == 0) {
        leastMissing = new LeastMissing();
        queues.forEach((queue, index) -> index.addTo(leastMissing));
      }
    }
  }

  private static final int LOOKS_IN_VAIN = 64;

  private final Function<QuotaNode, PreemptionUpperBound> upperBounds;
  private final AdmissionForecast.@Nullable Order forecastOrder;
  private final boolean admitsAllThatFit;
  private final Map<QuotaNode, Tree> trees = new HashMap<>();

  /** Roots of trees with an event after which a class may still fit. */
  private final Set<QuotaNode> treesWithEvents = new LinkedHashSet<>();

  /**
   * Creates an empty index.
   *
   * @param upperBounds bounds what preemption can free in the tree with a root
   * @param forecastOrder the order of the policy where it can be forecast
   * @param admitsAllThatFit whether a cycle admits all Workloads that fit, one after the other
   */
  InadmissibleIndex(
      Function<QuotaNode, PreemptionUpperBound> upperBounds,
      Optional<AdmissionForecast.Order> forecastOrder,
      boolean admitsAllThatFit) {
    this.upperBounds = upperBounds;
    this.admitsAllThatFit = admitsAllThatFit;
    this.forecastOrder = admitsAllThatFit ? forecastOrder.orElse(null) : null;
  }

  /**
   * What inadmissible classes wait for, as a value without gated Workloads; to be called between
   * cycles.
   */
  WaitingExport.InadmissibleExport export(ExportedNames names) {
    List<WaitingExport.TreeExport> exported = new ArrayList<>();
    trees.entrySet().stream()
        .sorted(Map.Entry.comparingByKey(ExportedNames.BY_ROOT))
        .forEach(
            tree ->
                exported.add(
                    new WaitingExport.TreeExport(
                        ExportedNames.nameOf(tree.getKey()),
                        tree.getValue().events,
                        tree.getValue().queues.values().stream()
                            .map(ClusterQueueInadmissibleIndex::export)
                            .toList())));
    return new WaitingExport.InadmissibleExport(
        exported, treesWithEvents.stream().map(ExportedNames::nameOf).toList());
  }

  /** Takes a state over, into an empty index. */
  void restore(WaitingExport.InadmissibleExport exported, ExportedNames names) {
    for (WaitingExport.TreeExport each : exported.trees()) {
      QuotaNode root = names.root(each.root());
      if (root == null) {
        continue;
      }
      Tree tree = tree(root);
      tree.events = each.events();
      for (WaitingExport.QueueExport ofQueue : each.queues()) {
        ClusterQueueCache queue = names.queue(ofQueue.clusterQueue());
        if (queue != null) {
          ClusterQueueInadmissibleIndex index = new ClusterQueueInadmissibleIndex(queue);
          index.restore(ofQueue, names);
          tree.queues.put(queue, index);
          index.addAllTo(tree.leastMissing);
        }
      }
    }
    for (WaitingExport.TreeRoot each : exported.treesWithEvents()) {
      QuotaNode root = names.root(each);
      if (root != null) {
        treesWithEvents.add(root);
      }
    }
  }

  /**
   * Adds a class that is inadmissible until one of its missing amounts is available.
   *
   * @param competing whether any release of quota may make the class fit: its pod sets compete for
   *     quota, so that a release may change their flavors
   * @param preempts whether new preemption targets may make the class fit
   */
  void add(
      InadmissibleQueue inadmissibleQueue,
      List<EquivalenceClass.Shortage> shortages,
      boolean competing,
      boolean preempts) {
    Tree tree = tree(inadmissibleQueue.queue.node());
    ClusterQueueInadmissibleIndex.Requirement requirement =
        new ClusterQueueInadmissibleIndex.Requirement(
            List.copyOf(shortages), competing, preempts, tree.events);
    tree.queues
        .computeIfAbsent(inadmissibleQueue.queue, ClusterQueueInadmissibleIndex::new)
        .add(inadmissibleQueue.equivalenceClass, requirement);
    tree.leastMissing.add(inadmissibleQueue.queue.node(), requirement);
  }

  private Tree tree(QuotaNode node) {
    return trees.computeIfAbsent(node.root(), root -> new Tree());
  }

  /** Records that quota was released in a tree, or that more Workloads there can be preempted. */
  void released(QuotaNode node) {
    tree(node).events++;
    treesWithEvents.add(node.root());
  }

  /**
   * The classes that may fit after a release and that the next cycle has to evaluate: the first of
   * each queue, unless an active Workload comes before it. The classes stay inadmissible until
   * then, because the free quota may be used by others.
   */
  Candidates candidates(Surrounding surrounding) {
    if (treesWithEvents.isEmpty() && surrounding.skippedTrees.isEmpty()) {
      return Candidates.NONE;
    }
    Candidates found =
        new Candidates(new ArrayList<>(), new HashSet<>(), new ArrayList<>(), new ArrayList<>());
    for (QuotaNode root : surrounding.skippedTrees) {
      if (!treesWithEvents.contains(root)) {
        addSkipped(root, found, surrounding.isIneligible);
      }
    }
    Iterator<QuotaNode> roots = treesWithEvents.iterator();
    while (roots.hasNext()) {
      QuotaNode root = roots.next();
      List<InadmissibleQueue> requeueable = new ArrayList<>();
      boolean withSkipped = surrounding.skippedTrees.contains(root);
      boolean any = findRequeueable(root, withSkipped, requeueable, found, surrounding);
      // A class may come before those in line that didn't when the quota was released. Nobody gets
      // quota past the claims of a tree, though nothing else has them looked at.
      if (!requeueable.isEmpty() && surrounding.joinClaims.test(root) && !withSkipped) {
        requeueable.clear();
        any = findRequeueable(root, true, requeueable, found, surrounding);
      }
      if (any) {
        addRequeueable(root, requeueable, found, surrounding);
      } else {
        roots.remove();
      }
    }
    return found;
  }

  private void addRequeueable(
      QuotaNode root,
      List<InadmissibleQueue> requeueable,
      Candidates found,
      Surrounding surrounding) {
    Optional<List<QueueHead>> heads =
        forecastOrder == null ? Optional.empty() : surrounding.activeHeads.apply(root);
    Set<ClusterQueueCache> withHead = withHead(requeueable, heads.orElse(List.of()));
    List<InadmissibleQueue> evaluated =
        forecastOrder == null
            ? requeueable
            : forecast(forecastOrder, requeueable, heads, withHead, surrounding.isIneligible);
    if (evaluated != requeueable) {
      // Nobody is behind the class of a queue without an active head.
      Set<ClusterQueueCache> leftOut = new HashSet<>(withHead);
      leftOut.removeIf(queue -> queue.queueing().headBlocks());
      evaluated.forEach(inadmissibleQueue -> leftOut.remove(inadmissibleQueue.queue));
      found.leftOut.addAll(leftOut);
      found.classes.addAll(evaluated);
    } else if (admitsAllThatFit && surrounding.maySkip.test(root)) {
      for (InadmissibleQueue candidate : requeueable) {
        ClusterQueueInadmissibleIndex index = tree(root).queues.get(candidate.queue);
        if (index != null && isPlain(candidate, index, surrounding.isIneligible)) {
          found.plain.add(new QueueHead(candidate.queue, candidate.equivalenceClass.head()));
        } else {
          found.classes.add(candidate);
        }
      }
    } else {
      found.classes.addAll(requeueable);
    }
  }

  /** Whether a class fits, and its outcome is either that it gets quota or that it is skipped. */
  private static boolean isPlain(
      InadmissibleQueue candidate,
      ClusterQueueInadmissibleIndex index,
      Predicate<QueueHead> isIneligible) {
    ClusterQueueCache queue = candidate.queue;
    QueueHead queueHead = new QueueHead(queue, candidate.equivalenceClass.head());
    ResourceDemand.Fixed request = queueHead.plainRequest();
    return request != null
        && !queue.queueing().headBlocks()
        && queue.pending().isLedByOldest(candidate.equivalenceClass)
        && fits(index, request)
        && !isIneligible.test(queueHead);
  }

  private static boolean fits(ClusterQueueInadmissibleIndex index, ResourceDemand.Fixed request) {
    for (int i = 0; i < request.pairs().length; i++) {
      if (request.amounts()[i] > index.available(request.pairs()[i])) {
        return false;
      }
    }
    return true;
  }

  /** The queues of classes that may fit which have an active head, too. */
  private static Set<ClusterQueueCache> withHead(
      List<InadmissibleQueue> requeueable, List<QueueHead> heads) {
    if (heads.isEmpty()) {
      return Set.of();
    }
    Set<ClusterQueueCache> active = new HashSet<>();
    heads.forEach(queueHead -> active.add(queueHead.queue()));
    Set<ClusterQueueCache> both = new HashSet<>();
    for (InadmissibleQueue inadmissibleQueue : requeueable) {
      if (active.contains(inadmissibleQueue.queue)) {
        both.add(inadmissibleQueue.queue);
      }
    }
    return both;
  }

  private static List<InadmissibleQueue> forecast(
      AdmissionForecast.Order order,
      List<InadmissibleQueue> requeueable,
      Optional<List<QueueHead>> activeHeads,
      Set<ClusterQueueCache> withHead,
      Predicate<QueueHead> isIneligible) {
    if (requeueable.isEmpty() || activeHeads.isEmpty()) {
      return requeueable;
    }
    List<QueueHead> others =
        withHead.isEmpty()
            ? activeHeads.get()
            : activeHeads.get().stream()
                .filter(queueHead -> !withHead.contains(queueHead.queue()))
                .toList();
    List<InadmissibleQueue> admitted =
        AdmissionForecast.of(order, requeueable, others, isIneligible);
    return admitted == null ? requeueable : admitted;
  }

  /**
   * Whether any class may fit, skipped ones apart.
   *
   * @param withSkipped whether the skipped classes of the tree take part in the cycle
   * @param requeueable receives the classes to evaluate
   * @param found receives what becomes of skipped classes
   */
  private boolean findRequeueable(
      QuotaNode root,
      boolean withSkipped,
      List<InadmissibleQueue> requeueable,
      Candidates found,
      Surrounding surrounding) {
    Tree tree = trees.get(root);
    if (tree == null || tree.queues.isEmpty() || !tree.leastMissing.mayBeAvailable(root)) {
      if (withSkipped) {
        addSkipped(root, found, surrounding.isIneligible);
      }
      return false;
    }
    boolean any = false;
    PreemptionUpperBound preemptionUpperBound = upperBounds.apply(root);
    for (Map.Entry<ClusterQueueCache, ClusterQueueInadmissibleIndex> entry :
        tree.queues.entrySet()) {
      ClusterQueueCache queue = entry.getKey();
      ClusterQueueInadmissibleIndex index = entry.getValue();
      EquivalenceClass skipped = queue.pending().skipped();
      EquivalenceClass first =
          any && skipped != null && skipped == queue.pending().firstInadmissible()
              ? null
              : index.firstRequeueable(tree.events, skipped, preemptionUpperBound);
      while (first != null && isOvertaken(queue, first)) {
        index.remove(first);
        first = index.firstRequeueable(tree.events, skipped, preemptionUpperBound);
      }
      if (first != null) {
        any = true;
        if (queue.queueing().isCandidate(queue.pending(), first)) {
          queue.pending().activateSkipped();
          requeueable.add(new InadmissibleQueue(queue, first));
          continue;
        }
      }
      if (skipped != null && withSkipped) {
        addSkipped(
            queue,
            skipped,
            new Look(index, tree, preemptionUpperBound, surrounding.isIneligible),
            found);
      }
    }
    if (!any) {
      tree.lookedInVain();
    }
    return any;
  }

  /** Whether another Workload is the head of a StrictFIFO queue now: it is evaluated then. */
  private static boolean isOvertaken(ClusterQueueCache queue, EquivalenceClass equivalenceClass) {
    QueuedWorkload head = queue.queueing().headBlocks() ? queue.pending().head() : null;
    return head != null && head.equivalenceClass() != equivalenceClass;
  }

  private void addSkipped(QuotaNode root, Candidates found, Predicate<QueueHead> isIneligible) {
    Tree tree = trees.get(root);
    if (tree == null) {
      return;
    }
    PreemptionUpperBound preemptionUpperBound = upperBounds.apply(root);
    tree.queues.forEach(
        (queue, index) -> {
          EquivalenceClass skipped = queue.pending().skipped();
          if (skipped != null) {
            addSkipped(
                queue, skipped, new Look(index, tree, preemptionUpperBound, isIneligible), found);
          }
        });
  }

  /** With what a skipped class of a queue is looked at. */
  private record Look(
      ClusterQueueInadmissibleIndex index,
      Tree tree,
      PreemptionUpperBound preemptionUpperBound,
      Predicate<QueueHead> isIneligible) {}

  /** Finds out what this cycle will find about a skipped class, or lets the cycle find out. */
  private static void addSkipped(
      ClusterQueueCache queue, EquivalenceClass skipped, Look look, Candidates found) {
    ResourceDemand.Fixed request = skipped.demand(queue).fixed();
    QueueHead queueHead = new QueueHead(queue, skipped.head());
    if (request != null && fits(look.index, request) && !look.isIneligible.test(queueHead)) {
      found.plain.add(queueHead);
    } else if (request != null
        && look.index.isInVain(skipped, request, look.tree.events, look.preemptionUpperBound)) {
      queue.pending().endSkip();
      found.inVain.add(queue);
    } else {
      queue.pending().activateSkipped();
    }
  }

  /** Removes a class. */
  void remove(InadmissibleQueue inadmissibleQueue) {
    Tree tree = trees.get(inadmissibleQueue.queue.node().root());
    ClusterQueueInadmissibleIndex clusterQueueInadmissibleIndex =
        tree == null ? null : tree.queues.get(inadmissibleQueue.queue);
    if (clusterQueueInadmissibleIndex != null) {
      clusterQueueInadmissibleIndex.remove(inadmissibleQueue.equivalenceClass);
    }
  }

  /** The classes of a queue that a release of quota has helped, and that nobody looked at since. */
  List<EquivalenceClass> helped(ClusterQueueCache queue) {
    Tree tree = trees.get(queue.node().root());
    ClusterQueueInadmissibleIndex index = tree == null ? null : tree.queues.get(queue);
    return tree == null || index == null ? List.of() : index.helped(tree.events);
  }

  /**
   * Whether an inadmissible class is certainly none of the next {@link #candidates}, because what
   * it lacks isn't free. A class that may be looked at for another reason isn't told apart from one
   * that may fit.
   */
  boolean lacksStill(ClusterQueueCache queue, EquivalenceClass equivalenceClass) {
    Tree tree = trees.get(queue.node().root());
    ClusterQueueInadmissibleIndex index = tree == null ? null : tree.queues.get(queue);
    return tree != null
        && index != null
        && queue.pending().skipped() != equivalenceClass
        && queue.spec().rules().cheapest().isEmpty()
        && index.lacksStill(equivalenceClass, tree.events);
  }

  /** Whether quota was released after which a class may still fit. */
  boolean hasReleases() {
    return !treesWithEvents.isEmpty();
  }

  /** Removes all classes, before the trees are rebuilt. */
  void clear() {
    trees.clear();
    treesWithEvents.clear();
  }

  /**
   * The least amount of each pair that any inadmissible class of one tree misses: while the root
   * has less of every pair, no class may fit, and no queue needs to be looked at.
   */
  static final class LeastMissing {

    private static final long NOTHING = Long.MAX_VALUE;

    /** By the number of the pair; {@link #NOTHING} where no class misses any. */
    private long[] least = {};

    /** The most that any of the queues could get without the root's quota. */
    private long[] local = {};

    /** Whether any release may make a class fit. */
    private boolean competes;

    /** Whether targets may make a class fit. */
    private boolean preempts;

    /** Adds what a class of a queue misses. */
    void add(QuotaNode queue, Requirement requirement) {
      competes |= requirement.competing();
      preempts |= requirement.preempts();
      for (EquivalenceClass.Shortage shortage : requirement.shortages()) {
        int pair = shortage.pair();
        if (pair >= least.length) {
          int before = least.length;
          least = Arrays.copyOf(least, pair + 1);
          local = Arrays.copyOf(local, pair + 1);
          Arrays.fill(least, before, pair + 1, NOTHING);
        }
        least[pair] = Math.min(least[pair], shortage.amount());
        local[pair] = Math.max(local[pair], local(queue, pair));
      }
    }

    private static long local(QuotaNode queue, int pair) {
      long sum = 0;
      QuotaNode node = queue;
      for (QuotaNode above = node.parent(); above != null; above = node.parent()) {
        sum = ResourceAmounts.add(sum, node.local(pair));
        node = above;
      }
      return sum;
    }

    /** Whether targets may make a class fit, so that the quota of the root shows nothing. */
    boolean preempts() {
      return preempts;
    }

    /** Whether a class may fit, as far as the quota of the root shows. */
    boolean mayBeAvailable(QuotaNode root) {
      if (preempts || competes) {
        return true;
      }
      for (int pair = 0; pair < least.length; pair++) {
        if (least[pair] <= ResourceAmounts.add(local[pair], Math.max(0, root.available(pair)))) {
          return true;
        }
      }
      return false;
    }
  }
}
