package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.queue.QuotaHolders;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.core.quota.FairShareCalculator;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.quota.ShareRanking;
import dev.sluice.core.scheduling.preemption.CandidateQueue.Cursor;
import dev.sluice.core.scheduling.preemption.TargetQueueOrdering.RankedChildren.Ranked;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Orders the queues with candidates: descends from the root of the tree to the child with the
 * highest share. Shares are cached until usage below changes. The preemptor's request counts as
 * used meanwhile.
 *
 * <p>A <i>side</i> is a child of an ancestor of the preemptor that isn't itself an ancestor.
 * Whether its candidates are allowed depends on its share and on the share of the preemptor's side
 * only, so a side that isn't allowed is closed as a whole; a tree of many queues is not visited
 * queue by queue.
 *
 * <p>The children of a cohort are sorted already ({@link RankedChildren}). They are opened one
 * after the other, until none of the others can come before the best of the opened ones.
 */
final class TargetQueueOrdering {

  /** Whether the shares of a side and of the preemptor's side may allow a candidate of the side. */
  @FunctionalInterface
  interface SideCheck {

    /** False only if no candidate is allowed, now or when usage of the side is lower. */
    boolean mayAllow(
        QuotaNode side, DominantResourceShare preemptorShare, DominantResourceShare sideShare);
  }

  /** The queue that provides the next target. */
  final class TargetQueue {
    private final TreeNode treeNode;
    private final CandidateIterator candidateIterator;

    private TargetQueue(TreeNode treeNode, CandidateIterator candidateIterator) {
      this.treeNode = treeNode;
      this.candidateIterator = candidateIterator;
    }

    CandidateIterator candidates() {
      return candidateIterator;
    }

    /** Whether the queue is the preemptor's own queue. */
    boolean isOwn() {
      return treeNode.onPath;
    }

    /** Drops cached shares, because the usage of the queue changed. */
    void changed() {
      for (TreeNode current = treeNode; current != null; current = current.parent) {
        reorder(current.parent);
        current.dominantResourceShare = null;
        if (current.parent != null) {
          current.parent.changedChild = current;
        }
      }
    }

    /**
     * The share of the queue's side of the tree: the child of the lowest common ancestor with the
     * preemptor.
     */
    DominantResourceShare share() {
      return TargetQueueOrdering.this.share(treeSide());
    }

    /** The share of the queue's side with the current usage, not cached. */
    DominantResourceShare shareNow() {
      return shares.of(side());
    }

    /** The share of the preemptor's side. */
    DominantResourceShare shareOfPreemptor() {
      TreeNode common = Objects.requireNonNull(treeSide().parent);
      return TargetQueueOrdering.this.share(Objects.requireNonNull(common.childOnPath));
    }

    /**
     * Closes the queue's side, whose share doesn't allow any candidate: all its queues would come
     * next, and nothing changes before.
     */
    void closeSide() {
      TreeNode side = treeSide();
      remove(Objects.requireNonNull(side.parent), side);
    }

    /** The side that the queue belongs to. */
    QuotaNode side() {
      return treeSide().node;
    }

    private TreeNode treeSide() {
      TreeNode current = treeNode;
      while (current.parent != null && !current.parent.onPath) {
        current = current.parent;
      }
      return current;
    }
  }

  private final FairShareCalculator shares;
  private final PreemptionRequest preemptionRequest;
  private final Function<QuotaNode, @Nullable CandidateIterator> candidateIterators;
  private final BooleanSupplier ignoresShares;
  private final SideCheck sideCheck;
  private final Function<QuotaNode, RankedChildren> rankings;

  /** The opened queues. */
  private final Map<QuotaNode, TreeNode> queues = new HashMap<>(4);

  private final TreeNode root;

  /**
   * The order of all queues of the preemptor's tree.
   *
   * @param candidateIterators the candidates of a queue; null if there are none
   * @param ignoresShares whether candidates are allowed at the moment whatever the shares
   * @param sideCheck whether a side may have a candidate that is allowed
   * @param rankings the children of a cohort with the usage at this moment; for the cohorts above
   *     the preemptor's queue also with the usage without the preemptor's request
   */
  TargetQueueOrdering(
      FairShareCalculator shares,
      PreemptionRequest preemptionRequest,
      Function<QuotaNode, @Nullable CandidateIterator> candidateIterators,
      BooleanSupplier ignoresShares,
      SideCheck sideCheck,
      Function<QuotaNode, RankedChildren> rankings) {
    this.shares = shares;
    this.preemptionRequest = preemptionRequest;
    this.candidateIterators = candidateIterators;
    this.ignoresShares = ignoresShares;
    this.sideCheck = sideCheck;
    this.rankings = rankings;
    this.root = new TreeNode(preemptionRequest.queue().node().root(), null, true);
  }

  /**
   * What is left of the candidates of another queue than the preemptor's; null if there are none.
   */
  @Nullable CandidateIterator left(QuotaNode queue) {
    if (queue == preemptionRequest.queue().node()) {
      return null;
    }
    TreeNode opened = queues.get(queue);
    return opened == null ? candidateIterators.apply(queue) : candidates(opened);
  }

  /** The sorted children of a cohort; at the first call, opens the child on the path. */
  private RankedChildren ranked(TreeNode cohort) {
    RankedChildren known = cohort.ranked;
    if (known == null) {
      known = rankings.apply(cohort.node);
      cohort.ranked = known;
      if (cohort.onPath) {
        TreeNode below = new TreeNode(childOnPath(cohort.node), cohort, true);
        cohort.childOnPath = below;
        cohort.opened.add(below);
      }
    }
    return known;
  }

  /**
   * The first child that isn't opened; null if there is none. A child that borrows nothing when the
   * children are ranked doesn't borrow later, as targets only reduce usage.
   */
  private @Nullable Ranked nextRanked(TreeNode cohort) {
    RankedChildren all = ranked(cohort);
    TreeNode path = cohort.childOnPath;
    while (cohort.nextRanked < all.size()) {
      Ranked next = all.get(cohort.nextRanked);
      if (path == null || next.node() != path.node) {
        return next;
      }
      cohort.nextRanked++;
    }
    return null;
  }

  private TreeNode open(TreeNode cohort, Ranked next) {
    cohort.nextRanked++;
    TreeNode child = new TreeNode(next.node(), cohort, false);
    child.dominantResourceShare = next.share();
    if (next.node().isQueue()) {
      queues.put(next.node(), child);
    }
    return child;
  }

  private int compare(TreeNode one, TreeNode two) {
    int byShare = share(two).compareTo(share(one));
    return byShare != 0 ? byShare : Integer.compare(one.node.position(), two.node.position());
  }

  private void insert(TreeNode cohort, TreeNode child) {
    List<TreeNode> opened = cohort.opened;
    opened.add(-1 - Collections.binarySearch(opened, child, this::compare), child);
  }

  /** Moves the child whose share changed to its place. */
  private void reorder(@Nullable TreeNode cohort) {
    TreeNode changed = cohort == null ? null : cohort.changedChild;
    if (cohort == null || changed == null) {
      return;
    }
    cohort.changedChild = null;
    if (cohort.opened.remove(changed)) {
      insert(cohort, changed);
    }
  }

  /** The child of an ancestor of the preemptor's queue that is on the path to it. */
  private QuotaNode childOnPath(QuotaNode ancestor) {
    QuotaNode current = preemptionRequest.queue().node();
    while (current.parent() != ancestor) {
      current = Objects.requireNonNull(current.parent());
    }
    return current;
  }

  private DominantResourceShare share(TreeNode treeNode) {
    DominantResourceShare known = treeNode.dominantResourceShare;
    if (known == null) {
      known = shares.of(treeNode.node);
      treeNode.dominantResourceShare = known;
    }
    return known;
  }

  /** The next queue; null when no queue with candidates is left. */
  @Nullable TargetQueue next() {
    TreeNode current = root;
    while (true) {
      if (current.node.isQueue()) {
        CandidateIterator candidateIterator = candidates(current);
        return candidateIterator == null || candidateIterator.first() == null
            ? null
            : new TargetQueue(current, candidateIterator);
      }
      TreeNode best = highestShare(current);
      if (best != null) {
        current = best;
      } else if (current.parent == null) {
        return null;
      } else {
        remove(current.parent, current);
        current = root;
      }
    }
  }

  /** The child with the highest share; a cohort before a queue with an equal share. */
  private @Nullable TreeNode highestShare(TreeNode cohort) {
    RankedChildren all = ranked(cohort);
    reorder(cohort);
    closeDisallowed(cohort);
    while (true) {
      Ranked next = nextRanked(cohort);
      DominantResourceShare highest = next == null ? null : next.share();
      if (!cohort.opened.isEmpty()) {
        DominantResourceShare ofOpened = share(cohort.opened.getFirst());
        highest = highest == null || ofOpened.compareTo(highest) > 0 ? ofOpened : highest;
      }
      if (highest == null) {
        return null;
      }
      if (isExhausted(cohort, highest)) {
        cohort.opened.clear();
        cohort.nextRanked = all.size();
        return null;
      }
      TreeNode best = firstOfEqual(cohort, highest);
      if (best != null) {
        return best;
      }
    }
  }

  /** The child that comes first among those with this share, the highest; null if all are done. */
  private @Nullable TreeNode firstOfEqual(TreeNode cohort, DominantResourceShare highest) {
    TreeNode best = null;
    int index = 0;
    while (index < cohort.opened.size()
        && share(cohort.opened.get(index)).compareTo(highest) == 0) {
      TreeNode child = cohort.opened.get(index);
      if (isDone(cohort, child)) {
        remove(cohort, child);
      } else {
        best = best == null || isPreferred(child, best) ? child : best;
        index++;
      }
    }
    for (Ranked next = nextRanked(cohort);
        next != null
            && next.share().compareTo(highest) == 0
            && (best == null || mayBePreferred(next, best));
        next = nextRanked(cohort)) {
      TreeNode child = open(cohort, next);
      if (!isDone(cohort, child)) {
        insert(cohort, child);
        best = best == null || isPreferred(child, best) ? child : best;
      }
    }
    return best;
  }

  /**
   * Whether a child that isn't opened may come before an opened one with an equal share. If it
   * can't, those ranked after it can't either.
   */
  private boolean mayBePreferred(Ranked next, TreeNode best) {
    if (!next.node().isQueue() || !best.node.isQueue()) {
      return !next.node().isQueue()
          && (best.node.isQueue() || next.node().position() < best.node.position());
    }
    QuotaHolder bound = next.first();
    QuotaHolder first = first(best);
    if (bound == null || first == null) {
      return true;
    }
    return bound.evicted() == first.evicted()
        ? best.onPath || QuotaHolder.PREEMPTION_ORDER.compare(bound, first) < 0
        : bound.evicted();
  }

  private static void remove(TreeNode cohort, TreeNode child) {
    cohort.opened.remove(child);
    child.removed = true;
  }

  /**
   * Lets the sides be closed whose shares don't allow any candidate, once the preemptor's side has
   * no candidates left. From then on the preemptor's share stays the same and the others only fall,
   * so these sides would all be visited in vain; without them, the order of the others is the same.
   */
  private void closeDisallowed(TreeNode cohort) {
    TreeNode preemptorSide = cohort.childOnPath;
    if (preemptorSide != null
        && !cohort.closesDisallowed
        && hasNoCandidates(preemptorSide)
        && !ignoresShares.getAsBoolean()) {
      cohort.closesDisallowed = true;
    }
  }

  private boolean isDisallowed(TreeNode cohort, TreeNode side) {
    TreeNode preemptorSide = cohort.childOnPath;
    return cohort.closesDisallowed
        && preemptorSide != null
        && side != preemptorSide
        && !sideCheck.mayAllow(side.node, share(preemptorSide), share(side));
  }

  private boolean hasNoCandidates(TreeNode preemptorSide) {
    return preemptorSide.removed || (preemptorSide.node.isQueue() && first(preemptorSide) == null);
  }

  /**
   * Whether no remaining side can be allowed: all have lower shares than the preemptor's side,
   * which has no candidates left.
   */
  private boolean isExhausted(TreeNode cohort, DominantResourceShare highest) {
    TreeNode preemptorSide = cohort.childOnPath;
    return preemptorSide != null
        && share(preemptorSide).compareTo(highest) > 0
        && !ignoresShares.getAsBoolean();
  }

  private boolean isDone(TreeNode cohort, TreeNode child) {
    return (!child.onPath && !share(child).borrowing())
        || isDisallowed(cohort, child)
        || (child.node.isQueue() && first(child) == null);
  }

  /** Whether a node comes before another one with an equal share. */
  private boolean isPreferred(TreeNode one, TreeNode two) {
    if (!one.node.isQueue() || !two.node.isQueue()) {
      return !one.node.isQueue()
          && (two.node.isQueue() || one.node.position() < two.node.position());
    }
    QuotaHolder first = first(one);
    QuotaHolder second = first(two);
    if (first == null || second == null) {
      return second == null && first != null;
    }
    if (first.evicted() != second.evicted()) {
      return first.evicted();
    }
    return one.onPath == two.onPath
        ? QuotaHolder.PREEMPTION_ORDER.compare(first, second) < 0
        : two.onPath;
  }

  private @Nullable QuotaHolder first(TreeNode queue) {
    CandidateIterator candidateIterator = candidates(queue);
    return candidateIterator == null ? null : candidateIterator.first();
  }

  /** The candidates of a queue, computed at the first call. */
  private @Nullable CandidateIterator candidates(TreeNode queue) {
    if (!queue.candidatesKnown) {
      queue.candidatesKnown = true;
      queue.candidateIterator = candidateIterators.apply(queue.node);
    }
    return queue.candidateIterator;
  }

  /** The candidates of a queue that the preemptor's policies allow. */
  static @Nullable CandidateIterator candidates(
      PreemptionRequest preemptionRequest,
      QuotaNode node,
      Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
    boolean own = node == preemptionRequest.queue().node();
    if (!own && !preemptionRequest.isBorrowing(node)) {
      return null;
    }
    ClusterQueueCache queue = own ? preemptionRequest.queue() : queues.apply(node);
    if (queue == null || queue.holders().size() == 0) {
      return null;
    }
    return CandidateIterator.of(
        new CandidateQueue(queue, own ? null : node.parent(), false), preemptionRequest);
  }

  /**
   * A cohort or queue of the tree that may have candidates below it, in one search. {@link
   * TargetQueueOrdering} changes it.
   */
  static final class TreeNode {
    final QuotaNode node;
    final @Nullable TreeNode parent;
    final boolean onPath;

    /**
     * The opened children that may have candidates: the highest share first; the position decides
     * between equal shares.
     */
    final List<TreeNode> opened = new ArrayList<>(0);

    /** The children that borrow; null until the cohort is visited. */
    @Nullable RankedChildren ranked;

    /** The index of the first child that isn't opened yet. */
    int nextRanked;

    @Nullable CandidateIterator candidateIterator;
    boolean candidatesKnown;
    @Nullable TreeNode childOnPath;
    @Nullable DominantResourceShare dominantResourceShare;

    /** Whether the node is no longer among the children that may have candidates. */
    boolean removed;

    /** Whether children that are not allowed are closed. */
    boolean closesDisallowed;

    /** The child whose share changed since the children were ordered; null if none did. */
    @Nullable TreeNode changedChild;

    TreeNode(QuotaNode node, @Nullable TreeNode parent, boolean onPath) {
      this.node = node;
      this.parent = parent;
      this.onPath = onPath;
    }
  }

  /** Iterates over the candidates of one queue: Workloads that are being evicted first. */
  static final class CandidateIterator {

    private final CandidateQueue candidateQueue;
    private @Nullable Cursor evicted;
    private @Nullable Cursor notEvicted;
    private @Nullable QuotaHolder only;

    private CandidateIterator(
        CandidateQueue candidateQueue,
        @Nullable Cursor evicted,
        @Nullable Cursor notEvicted,
        @Nullable QuotaHolder only) {
      this.candidateQueue = candidateQueue;
      this.evicted = evicted;
      this.notEvicted = notEvicted;
      this.only = only;
    }

    /** All candidates that the preemptor's policies allow. */
    static CandidateIterator of(
        CandidateQueue candidateQueue, PreemptionRequest preemptionRequest) {
      return new CandidateIterator(
          candidateQueue,
          candidateQueue.candidates(preemptionRequest, true, false),
          candidateQueue.candidates(preemptionRequest, false, false),
          null);
    }

    /** A single candidate. */
    static CandidateIterator of(CandidateQueue candidateQueue, QuotaHolder only) {
      return new CandidateIterator(candidateQueue, null, null, only);
    }

    CandidateQueue source() {
      return candidateQueue;
    }

    /** The current candidate; null at the end. */
    @Nullable QuotaHolder first() {
      if (evicted != null && evicted.current() != null) {
        return evicted.current();
      }
      return notEvicted == null ? only : notEvicted.current();
    }

    /** Moves to the next candidate. */
    void advance() {
      if (evicted != null && evicted.current() != null) {
        evicted.advance();
      } else if (notEvicted != null) {
        notEvicted.advance();
      } else {
        only = null;
      }
    }

    /** Skips all remaining candidates. */
    void close() {
      evicted = null;
      notEvicted = null;
      only = null;
    }
  }

  /**
   * The children of one cohort that borrow, in the order in which a search for targets visits them
   * as far as no preemptor matters: the highest share first; among equal shares cohorts before
   * queues, and queues by the first of their Workloads in the order of preemption. The children are
   * sorted once for all searches that begin with the same usage, and a search looks only at as many
   * of them as it visits.
   */
  static final class RankedChildren {

    /**
     * A child.
     *
     * @param first the first Workload of a queue in the order of preemption, before which no
     *     candidate of the queue comes; null for a cohort, and if it isn't known
     */
    record Ranked(QuotaNode node, DominantResourceShare share, @Nullable QuotaHolder first) {}

    private static final Comparator<Ranked> ORDER =
        (one, two) -> {
          int byShare = two.share.compareTo(one.share);
          if (byShare != 0) {
            return byShare;
          }
          if (one.node.isQueue() != two.node.isQueue()) {
            return one.node.isQueue() ? 1 : -1;
          }
          int byFirst = compareFirst(one.first, two.first);
          return byFirst != 0 ? byFirst : Integer.compare(one.node.position(), two.node.position());
        };

    private final List<Ranked> ranked;

    private RankedChildren(
        ShareRanking ranking, Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
      ranked = new ArrayList<>(ranking.borrowers().size());
      for (ShareRanking.Borrower borrower : ranking.borrowers()) {
        ClusterQueueCache queue = borrower.node().isQueue() ? queues.apply(borrower.node()) : null;
        ranked.add(
            new Ranked(
                borrower.node(), borrower.share(), queue == null ? null : first(queue.holders())));
      }
      ranked.sort(ORDER);
    }

    /** The children of a cohort in the order that follows from a ranking of their shares. */
    static RankedChildren of(
        ShareRanking ranking, Function<QuotaNode, @Nullable ClusterQueueCache> queues) {
      if (ranking.derived() instanceof RankedChildren known) {
        return known;
      }
      RankedChildren made = new RankedChildren(ranking, queues);
      ranking.derived(made);
      return made;
    }

    int size() {
      return ranked.size();
    }

    Ranked get(int index) {
      return ranked.get(index);
    }

    private static @Nullable QuotaHolder first(QuotaHolders holders) {
      return holders.firstOfOnlyGroup(!holders.isEmpty(true));
    }

    /** Queues of which the first Workload isn't known come first: none may be skipped. */
    private static int compareFirst(@Nullable QuotaHolder one, @Nullable QuotaHolder two) {
      if (one == null || two == null) {
        return Boolean.compare(one != null, two != null);
      }
      return one.evicted() == two.evicted()
          ? QuotaHolder.PREEMPTION_ORDER.compare(one, two)
          : Boolean.compare(two.evicted(), one.evicted());
    }
  }
}
