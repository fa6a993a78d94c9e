package dev.sluice.core.quota;

import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.ResourceAmounts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The position of a ClusterQueue or a cohort in the quota tree: its name, parent and children, and
 * what is known of its share. The quota of the position is in {@link QuotaNode}. Confined to one
 * thread.
 */
abstract sealed class HierarchyNode permits QuotaNode {

  final String name;
  final boolean queue;
  @Nullable QuotaNode parent;
  final List<QuotaNode> children = new ArrayList<>();
  private final List<QuotaNode> cohorts = new ArrayList<>(0);

  /** The positions among the children of those that borrow any pair. */
  private final BitSet borrowers = new BitSet(0);

  private int position;
  int height;
  final GuaranteedQuota guaranteed = new GuaranteedQuota();
  int maxWorkloads = Integer.MAX_VALUE;
  boolean cohortGuarantee;
  private PreemptionRules preemption = PreemptionRules.NONE;

  /** The rules here and above; null until somebody asks after a rebuild. */
  private @Nullable PreemptionRules effectivePreemption;

  private int workloads;
  private @Nullable DominantResourceShare dominantResourceShare;
  private @Nullable ShareRanking ranking;
  private @Nullable DominantResourceShare keptShare;
  private @Nullable ShareRanking keptRanking;
  private @Nullable Object untilReservationsChange;
  private @Nullable Object owner;

  /** What is so of any holder here or below; null for a cohort if it isn't known. */
  private @Nullable AnyHolder anyHolder;

  HierarchyNode(String name, boolean queue) {
    this.name = name;
    this.queue = queue;
  }

  /** The name of the ClusterQueue or cohort. */
  public final String name() {
    return name;
  }

  /** Whether the node is a ClusterQueue. */
  public final boolean isQueue() {
    return queue;
  }

  /** The cohort above; null for a root. */
  public final @Nullable QuotaNode parent() {
    return parent;
  }

  /** The object of the ClusterQueue at this node; null if the ClusterQueue was deleted. */
  public final @Nullable Object owner() {
    return owner;
  }

  /** Sets the object of the ClusterQueue, so that it needn't be looked up by its name. */
  public final void owner(@Nullable Object object) {
    owner = object;
  }

  /** This node, as the type that has its quota. */
  abstract QuotaNode self();

  /** The root of the tree; this node if it has no parent. */
  public final QuotaNode root() {
    QuotaNode node = self();
    while (node.parent != null) {
      node = node.parent;
    }
    return node;
  }

  /** Names from the root of the tree down to this node. */
  public final List<String> path() {
    List<String> names = new ArrayList<>();
    for (HierarchyNode node = this; node != null; node = node.parent) {
      names.add(node.name);
    }
    return names.reversed();
  }

  /** The position among the children of the cohort above. */
  public final int position() {
    return position;
  }

  /** The child queues and cohorts, in the order of their names. */
  public final List<QuotaNode> children() {
    return Collections.unmodifiableList(children);
  }

  /**
   * 0 for a queue, 1 for a cohort that has only queues, otherwise one more than the height of its
   * highest child cohort.
   */
  public final int height() {
    return height;
  }

  /** Computes the height from the heights of the children. */
  final void computeHeight() {
    height = queue ? 0 : 1;
    for (HierarchyNode child : children) {
      height = Math.max(height, child.height + 1);
    }
  }

  /** Removes the node from its tree; its children have to be attached again, too. */
  final void removeFromTree() {
    parent = null;
    children.clear();
    cohorts.clear();
    borrowers.clear();
  }

  final void attach(QuotaNode child) {
    child.parent = self();
    ((HierarchyNode) child).position = children.size();
    children.add(child);
    if (!child.queue) {
      cohorts.add(child);
    }
  }

  /** The children that are cohorts, in the order of their names. */
  public final List<QuotaNode> cohorts() {
    return Collections.unmodifiableList(cohorts);
  }

  /** Records whether this node borrows any pair. */
  final void borrows(boolean any) {
    if (parent != null) {
      ((HierarchyNode) parent).borrowers.set(position, any);
    }
  }

  /** Whether this node borrows any pair, as recorded last. */
  final boolean isRecordedAsBorrower() {
    return parent != null && ((HierarchyNode) parent).borrowers.get(position);
  }

  /** Calls {@code action} with each child that borrows any pair, in the order of the children. */
  public final void forEachBorrower(Consumer<QuotaNode> action) {
    for (int i = borrowers.nextSetBit(0); i >= 0; i = borrowers.nextSetBit(i + 1)) {
      action.accept(children.get(i));
    }
  }

  /** The positions of the children that borrow any pair at this moment. */
  public final BitSet borrowers() {
    return (BitSet) borrowers.clone();
  }

  /** Calls {@code action} with each child that borrows any pair and isn't at such a position. */
  public final void forEachBorrowerBeside(BitSet positions, Consumer<QuotaNode> action) {
    for (int i = borrowers.nextSetBit(0); i >= 0; i = borrowers.nextSetBit(i + 1)) {
      if (!positions.get(i)) {
        action.accept(children.get(i));
      }
    }
  }

  /** Counts Workloads that get or lose quota, here and at all ancestors. */
  public final void countWorkloads(int more) {
    for (HierarchyNode node = this; node != null; node = node.parent) {
      node.workloads += more;
    }
  }

  /** Number of Workloads with quota, here and below. */
  public final int workloads() {
    return workloads;
  }

  /** The most Workloads with quota, here and below; {@link Integer#MAX_VALUE} without a limit. */
  public final int maxWorkloads() {
    return maxWorkloads;
  }

  /** The lowest node from here to the root that has as many Workloads as it may; null if none. */
  public final @Nullable QuotaNode atWorkloadLimit() {
    for (HierarchyNode node = this; node != null; node = node.parent) {
      if (node.workloads >= node.maxWorkloads) {
        return node.self();
      }
    }
    return null;
  }

  /** Whether the number of Workloads is limited here or at an ancestor. */
  public final boolean limitsWorkloads() {
    for (HierarchyNode node = this; node != null; node = node.parent) {
      if (node.maxWorkloads != Integer.MAX_VALUE) {
        return true;
      }
    }
    return false;
  }

  /** Sets the rules of preemption that the object of this node has itself. */
  final void preemption(PreemptionRules ownRules) {
    preemption = ownRules;
    effectivePreemption = null;
  }

  /** The rules of preemption for Workloads that hold quota here: each from the nearest node. */
  public final PreemptionRules preemptionRules() {
    PreemptionRules known = effectivePreemption;
    if (known == null) {
      known = parent == null ? preemption : preemption.or(parent.preemptionRules());
      effectivePreemption = known;
    }
    return known;
  }

  /** Computes the number of Workloads of a cohort from those of the children. */
  final void computeWorkloads() {
    if (!queue) {
      workloads = 0;
      for (HierarchyNode child : children) {
        workloads += child.workloads;
      }
    }
  }

  /** The lowest node that limits guaranteed Workloads of this one. */
  private HierarchyNode guarantor() {
    return cohortGuarantee && parent != null ? parent : this;
  }

  /** What guaranteed Workloads may still use of the nominal quotas on the whole path. */
  public final long guaranteedAvailable(int pair) {
    long least = Long.MAX_VALUE;
    for (HierarchyNode node = guarantor(); node != null; node = node.parent) {
      least = Math.min(least, node.guaranteed.free(pair));
    }
    return Math.max(0, least);
  }

  /** What guaranteed Workloads could use of the nominal quotas on the whole path. */
  public final long guaranteedPotential(int pair) {
    long least = Long.MAX_VALUE;
    for (HierarchyNode node = guarantor(); node != null; node = node.parent) {
      least = Math.min(least, node.guaranteed.quota(pair));
    }
    return least;
  }

  /** Adds to the usage of guaranteed Workloads, here and at all ancestors. */
  public final void addGuaranteed(int pair, long amount) {
    for (HierarchyNode node = this; node != null; node = node.parent) {
      node.guaranteed.used().add(pair, amount);
    }
  }

  /** Undoes {@link #addGuaranteed}. */
  public final void removeGuaranteed(int pair, long amount) {
    for (HierarchyNode node = this; node != null; node = node.parent) {
      node.guaranteed.used().subtract(pair, amount);
    }
  }

  /** Forgets the usage of guaranteed Workloads of this queue, before it is counted anew. */
  public final void clearGuaranteed() {
    guaranteed.used().clear();
  }

  /**
   * The share that was computed last; null after a change of usage, quota or position in the tree.
   */
  final @Nullable DominantResourceShare knownShare() {
    return dominantResourceShare;
  }

  final void knownShare(DominantResourceShare computed) {
    dominantResourceShare = computed;
  }

  /** The ranking of the children that was made last; null after a change below. */
  final @Nullable ShareRanking knownRanking() {
    return ranking;
  }

  final void knownRanking(ShareRanking made) {
    ranking = made;
  }

  /** Forgets the share of this node, and so the ranking that it is part of. */
  final void forgetShare() {
    dominantResourceShare = null;
    HierarchyNode above = parent;
    if (above != null) {
      above.ranking = null;
    }
  }

  /** Forgets the shares of this node and of its children. */
  final void forgetShares() {
    dominantResourceShare = null;
    ranking = null;
    untilReservationsChange = null;
    if (!queue) {
      anyHolder = null;
    }
  }

  /**
   * Records that Workloads of this queue got or lost a reservation, or may be evicted or not, even
   * if the usage stays the same.
   */
  public final void reservationsChanged() {
    for (HierarchyNode node = this; node != null; node = node.parent) {
      node.ranking = null;
      node.untilReservationsChange = null;
    }
  }

  /** Records what is so of any holder of this queue. */
  public final void holds(AnyHolder any) {
    if (!any.equals(anyHolder)) {
      anyHolder = any;
      for (HierarchyNode node = parent; node != null; node = node.parent) {
        node.anyHolder = null;
      }
    }
  }

  /** What is so of any holder of a queue here or below. */
  public final AnyHolder anyHolder() {
    AnyHolder known = anyHolder;
    if (known != null) {
      return known;
    }
    AnyHolder any = AnyHolder.NONE;
    for (QuotaNode child : children) {
      any = any.or(child.anyHolder());
    }
    anyHolder = any;
    return any;
  }

  /**
   * What was set last; null after a change of quota, or of a Workload's reservation, here or below.
   * What a cycle adds to the usage for the moment doesn't count.
   */
  public final @Nullable Object untilReservationsChange() {
    return untilReservationsChange;
  }

  /** Sets what is dropped at the next change of quota, or of a reservation, here or below. */
  public final void untilReservationsChange(Object kept) {
    untilReservationsChange = kept;
  }

  /**
   * Keeps what is known of shares from here to the root, for {@link #restoreShares}. What is kept
   * holds again as soon as the usage of the whole tree is what it was.
   */
  public final void keepShares() {
    for (HierarchyNode node = this; node != null; node = node.parent) {
      node.keptShare = node.dominantResourceShare;
      node.keptRanking = node.ranking;
    }
  }

  /** Restores what {@link #keepShares} kept; the usage of the whole tree must be what it was. */
  public final void restoreShares() {
    for (HierarchyNode node = this; node != null; node = node.parent) {
      node.dominantResourceShare = node.keptShare;
      node.ranking = node.keptRanking;
    }
  }

  /** The node above; the node itself for a root. */
  final QuotaNode parentOrSelf() {
    QuotaNode above = parent;
    return above == null ? self() : above;
  }

  /**
   * The nominal quota of a node and all below it, and how much of it guaranteed Workloads use
   * (docs/scheduling-semantics.md#annotated-queues). Nothing is lent or borrowed here.
   */
  static final class GuaranteedQuota {

    private final UsageVector used = new UsageVector();
    private long[] quota = {};

    /** The nominal quotas of the node and all below it, with their rates. */
    long quota(int pair) {
      return pair < quota.length ? quota[pair] : 0;
    }

    /** What guaranteed Workloads could still use; negative if the quota was lowered. */
    long free(int pair) {
      return ResourceAmounts.subtract(quota(pair), used.get(pair));
    }

    UsageVector used() {
      return used;
    }

    /**
     * Computes the quota of a pair from the nominal quota and the children; of a cohort the usage.
     */
    void rebuild(int pair, long nominal, HierarchyNode node) {
      long sum = nominal;
      long usage = 0;
      for (QuotaNode child : node.children) {
        sum = ResourceAmounts.add(sum, child.guaranteed.quota(pair));
        usage = ResourceAmounts.add(usage, child.guaranteed.used.get(pair));
      }
      if (sum != 0 || pair < quota.length) {
        if (pair >= quota.length) {
          quota = Arrays.copyOf(quota, pair + 1);
        }
        quota[pair] = sum;
      }
      if (!node.queue && (usage != 0 || used.get(pair) != 0)) {
        used.set(pair, usage);
      }
    }
  }
}
