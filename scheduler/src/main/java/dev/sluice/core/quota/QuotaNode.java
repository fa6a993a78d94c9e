package dev.sluice.core.quota;

import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup.Quota;
import java.math.BigDecimal;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A ClusterQueue or a cohort in the quota tree: its quota and its usage. The formulas are in
 * docs/scheduling-semantics.md#quota-tree. For each pair N is the nominal quota, S the quota of the
 * subtree, U the usage at this node; B and L are the borrowing limit and the lending limit.
 * Confined to one thread.
 */
public final class QuotaNode extends HierarchyNode {

  private static final long[] NO_AMOUNTS = {};

  private BigDecimal weight = BigDecimal.ONE;
  private long @Nullable [] lendable;
  private long[] nominal = NO_AMOUNTS;
  private long[] borrowingLimit = NO_AMOUNTS;
  private long[] lendingLimit = NO_AMOUNTS;
  private long[] subtree = NO_AMOUNTS;
  private final UsageVector usage = new UsageVector();

  /**
   * A bit for each of the first pairs of which this node keeps nothing for itself and borrows
   * without limit: what is available of them is what is available to the parent.
   */
  private long openPairs;

  /**
   * A bit for each of the first pairs of which no node below this one keeps anything for itself.
   */
  private long lentWhole;

  /** The declared quota; null while no rate in the hierarchy multiplies quota. */
  private @Nullable PlainQuota plain;

  private BigDecimal rate = BigDecimal.ONE;

  QuotaNode(String name, boolean queue) {
    super(name, queue);
  }

  @Override
  QuotaNode self() {
    return this;
  }

  /** The weight for fair sharing. */
  BigDecimal weight() {
    return weight;
  }

  void weight(BigDecimal newWeight) {
    weight = newWeight;
    forgetShare();
  }

  /** The potential quota at this node by the number of the resource, summed over all flavors. */
  long[] lendable(FlavorResourceIndex pairs) {
    long[] known = lendable;
    if (known == null) {
      known = new long[pairs.resources()];
      for (int pair = 0; pair < pairs.count(); pair++) {
        int resource = pairs.resource(pair);
        known[resource] = ResourceAmounts.add(known[resource], potential(pair));
      }
      lendable = known;
    }
    return known;
  }

  /** N: the nominal quota. */
  public long nominal(int pair) {
    return at(nominal, pair, 0);
  }

  /** B: the borrowing limit; unlimited if absent. */
  public long borrowingLimit(int pair) {
    return at(borrowingLimit, pair, ResourceAmounts.UNLIMITED);
  }

  /** L: the lending limit; unlimited if absent. */
  public long lendingLimit(int pair) {
    return at(lendingLimit, pair, ResourceAmounts.UNLIMITED);
  }

  /** S: the quota of the subtree: the nominal quota, and the quota that the children lend. */
  public long subtreeQuota(int pair) {
    return at(subtree, pair, 0);
  }

  /**
   * U: the usage at this node; for a cohort, the usage of its children beyond the quota that they
   * never lend.
   */
  public long usage(int pair) {
    return usage.get(pair);
  }

  /** The part of S that is never lent: max(0, S - L) with a lending limit, else nothing. */
  public long local(int pair) {
    PlainQuota declared = plain;
    if (declared != null) {
      return declared.local(pair);
    }
    long limit = lendingLimit(pair);
    return limit == ResourceAmounts.UNLIMITED
        ? 0
        : Math.max(0, ResourceAmounts.subtract(subtreeQuota(pair), limit));
  }

  /** The part of S that is lent: S - local. */
  private long lent(int pair) {
    if (plain != null) {
      return ResourceAmounts.subtract(subtreeQuota(pair), local(pair));
    }
    return Math.min(subtreeQuota(pair), lendingLimit(pair));
  }

  /**
   * The amount that is available to this node now. It may be negative for a cohort whose quota was
   * lowered; for a queue it is at least 0.
   */
  public long available(int pair) {
    long free = free(pair);
    return queue ? Math.max(0, free) : free;
  }

  /** The amount that is available to a Workload, which may be guaranteed. */
  public long available(int pair, boolean toGuaranteed) {
    return toGuaranteed ? Math.min(available(pair), guaranteedAvailable(pair)) : available(pair);
  }

  /**
   * The node whose free quota of a pair is all that is available to this one: an ancestor, where
   * the nodes below it keep nothing for themselves and borrow without limit. Otherwise this node.
   * It stays the same until the tree is rebuilt.
   */
  public QuotaNode source(int pair) {
    QuotaNode node = this;
    while (node.parent != null && node.isOpen(pair)) {
      node = node.parent;
    }
    return node;
  }

  private boolean isOpen(int pair) {
    return pair < Long.SIZE && (openPairs >>> pair & 1) != 0;
  }

  /**
   * Whether no node below this one keeps anything of a pair for itself: then the usage here is the
   * sum of what all queues below use.
   */
  public boolean isLentWhole(int pair) {
    return pair < Long.SIZE && (lentWhole >>> pair & 1) != 0;
  }

  /** What nodes use at a time that isn't now. */
  public interface Usages {

    /** U of a node. */
    long of(QuotaNode node, int pair);
  }

  /** The amount that would be available to this node with other usage. */
  public long available(int pair, Usages usages) {
    long free = free(pair, usages);
    return queue ? Math.max(0, free) : free;
  }

  private long free(int pair, Usages usages) {
    QuotaNode parentNode = parent;
    if (parentNode == null) {
      return ResourceAmounts.subtract(subtreeQuota(pair), usages.of(this, pair));
    }
    long borrowable = parentNode.free(pair, usages);
    return isOpen(pair) ? borrowable : free(pair, usages.of(this, pair), borrowable);
  }

  private long free(int pair) {
    QuotaNode parentNode = parent;
    if (parentNode == null) {
      return ResourceAmounts.subtract(subtreeQuota(pair), usage(pair));
    }
    return isOpen(pair) ? parentNode.free(pair) : free(pair, usage(pair), parentNode.free(pair));
  }

  /** What is free here with some usage, where so much is free at the parent. */
  private long free(int pair, long used, long ofParent) {
    long local = local(pair);
    long borrowable = ofParent;
    long limit = borrowingLimit(pair);
    if (limit != ResourceAmounts.UNLIMITED) {
      long beyond = Math.max(0, ResourceAmounts.subtract(used, local));
      long ceiling = ResourceAmounts.addQuota(ResourceAmounts.subtract(lent(pair), beyond), limit);
      borrowable = Math.min(borrowable, ceiling);
    }
    return ResourceAmounts.addQuota(Math.max(0, ResourceAmounts.subtract(local, used)), borrowable);
  }

  /** The amount that would be available to this node without any usage. */
  public long potential(int pair) {
    long quota = subtreeQuota(pair);
    QuotaNode parentNode = parent;
    if (parentNode == null) {
      return quota;
    }
    long withParent = ResourceAmounts.addQuota(local(pair), parentNode.potential(pair));
    long limit = borrowingLimit(pair);
    return limit == ResourceAmounts.UNLIMITED
        ? withParent
        : Math.min(withParent, ResourceAmounts.addQuota(quota, limit));
  }

  /**
   * Adds {@code amount} to the usage: the part beyond the free local quota is added to the parent.
   */
  public void add(int pair, long amount) {
    forgetShare();
    long before = usage.get(pair);
    if (!queue && before == ResourceAmounts.UNLIMITED) {
      recomputeUsage(pair);
      return;
    }
    usage.add(pair, amount);
    QuotaNode parentNode = parent;
    if (parentNode == null) {
      return;
    }
    updateBorrower(pair);
    if (before == ResourceAmounts.UNLIMITED || usage.get(pair) == ResourceAmounts.UNLIMITED) {
      parentNode.recomputeUsage(pair);
      return;
    }
    long localFree = Math.max(0, local(pair) - before);
    if (amount > localFree) {
      parentNode.add(pair, amount - localFree);
    }
  }

  /**
   * Removes {@code amount} from the usage: the part that was borrowed from the parent is removed
   * from the parent first.
   */
  public void remove(int pair, long amount) {
    forgetShare();
    long before = usage.get(pair);
    if (!queue && before == ResourceAmounts.UNLIMITED) {
      recomputeUsage(pair);
      return;
    }
    usage.subtract(pair, amount);
    QuotaNode parentNode = parent;
    if (parentNode == null) {
      return;
    }
    updateBorrower(pair);
    if (before == ResourceAmounts.UNLIMITED) {
      parentNode.recomputeUsage(pair);
      return;
    }
    long borrowed = Math.max(0, before - local(pair));
    if (borrowed > 0) {
      parentNode.remove(pair, Math.min(amount, borrowed));
    }
  }

  /** Records whether this node borrows, after its usage of a pair changed. */
  private void updateBorrower(int pair) {
    if (borrowing(pair)) {
      borrows(true);
    } else if (isRecordedAsBorrower()) {
      borrows(borrowsAnything());
    }
  }

  /**
   * Recomputes the usage of this cohort and its ancestors: incremental changes are wrong while the
   * usage of a child is saturated.
   */
  private void recomputeUsage(int pair) {
    forgetShare();
    usage.set(pair, usedByChildren(pair));
    updateBorrower(pair);
    QuotaNode parentNode = parent;
    if (parentNode != null) {
      parentNode.recomputeUsage(pair);
    }
  }

  private long usedByChildren(int pair) {
    long used = 0;
    for (QuotaNode child : children) {
      long beyond = ResourceAmounts.subtract(child.usage(pair), child.local(pair));
      used = ResourceAmounts.add(used, Math.max(0, beyond));
    }
    return used;
  }

  /** The usage of all queues of the subtree, the usage within local quota included. */
  public UsageVector subtreeUsage() {
    UsageVector sums = new UsageVector();
    addSubtreeUsage(sums);
    return sums;
  }

  private void addSubtreeUsage(UsageVector sums) {
    for (QuotaNode child : children) {
      child.addSubtreeUsage(sums);
    }
    for (int pair = 0; queue && pair < usage.size(); pair++) {
      sums.add(pair, usage.get(pair));
    }
  }

  /** Whether the node borrows: U > N for a queue, U > S for a cohort. */
  public boolean borrowing(int pair) {
    return usage(pair) > subtreeQuota(pair);
  }

  /** Whether the node borrows any pair. */
  public boolean borrowsAnything() {
    int pairs = Math.max(subtree.length, usage.size());
    for (int pair = 0; pair < pairs; pair++) {
      if (borrowing(pair)) {
        return true;
      }
    }
    return false;
  }

  /**
   * The level from which a request must borrow: the height of the lowest ancestor whose subtree
   * quota can hold the request on top of the usage, where each level covers a part with its free
   * local quota; 0 when the own quota can hold it, or without a cohort; the root's height if even
   * the root can't.
   */
  public int borrowLevel(int pair, long amount) {
    QuotaNode lowestHolding = lowestHolding(pair, amount);
    return lowestHolding == null ? root().height() : lowestHolding.height();
  }

  /**
   * Whether the quota for a request may be reclaimed within the hierarchy: the lowest subtree that
   * can hold the request has a parent.
   */
  public boolean mayReclaim(int pair, long amount) {
    QuotaNode lowestHolding = lowestHolding(pair, amount);
    return lowestHolding != null && lowestHolding.parent != null;
  }

  /** The local quota (never lent) that is free. */
  public long localAvailable(int pair) {
    return Math.max(0, ResourceAmounts.subtract(local(pair), usage(pair)));
  }

  /** The lowest node whose subtree quota can hold the request; null if even the root can't. */
  private @Nullable QuotaNode lowestHolding(int pair, long amount) {
    QuotaNode node = this;
    long remaining = amount;
    if (parent == null) {
      return this;
    }
    while (ResourceAmounts.add(node.usage(pair), remaining) > node.subtreeQuota(pair)) {
      remaining -= Math.min(remaining, node.localAvailable(pair));
      QuotaNode parentNode = node.parent;
      if (parentNode == null) {
        return null;
      }
      node = parentNode;
    }
    return node;
  }

  void setQuota(int pair, Quota quota) {
    ensure(pair);
    nominal[pair] = ResourceAmounts.scale(quota.nominal(), rate);
    borrowingLimit[pair] = ResourceAmounts.scale(quota.borrowingLimit(), rate);
    lendingLimit[pair] = quota.lendingLimit();
    if (plain != null) {
      plain.set(pair, quota);
    }
  }

  /**
   * Sets the rules for the quota that is set next.
   *
   * @param oversold whether any rate of the hierarchy multiplies quota
   */
  void rules(QuotaRules rules, boolean oversold) {
    rate = rules.oversellRate();
    plain = oversold ? new PlainQuota() : null;
    maxWorkloads = rules.maxWorkloads().orElse(Integer.MAX_VALUE);
    cohortGuarantee = queue && rules.cohortGuarantee();
    preemption(rules.preemption());
  }

  /** N, B and L as the object declares them, without any rate. */
  public Quota declared(int pair) {
    return plain != null
        ? plain.of(pair)
        : new Quota(nominal(pair), borrowingLimit(pair), lendingLimit(pair));
  }

  /** S without any rate. */
  public long declaredSubtreeQuota(int pair) {
    return plain != null ? plain.subtree(pair) : subtreeQuota(pair);
  }

  /** The part of S that is lent, without any rate. */
  long plainLent(int pair) {
    return ResourceAmounts.subtract(declaredSubtreeQuota(pair), local(pair));
  }

  /** Resets quota and position in the tree; a queue keeps its usage. */
  void detach() {
    removeFromTree();
    openPairs = 0;
    lentWhole = 0;
    weight = BigDecimal.ONE;
    rules(QuotaRules.DEFAULT, false);
    lendable = null;
    forgetShares();
    Arrays.fill(nominal, 0);
    Arrays.fill(borrowingLimit, ResourceAmounts.UNLIMITED);
    Arrays.fill(lendingLimit, ResourceAmounts.UNLIMITED);
    if (!queue) {
      usage.clear();
      computeWorkloads();
    }
  }

  /** Recomputes height, subtree quota and (for cohorts) usage, from the children up. */
  void rebuild(int pairs) {
    lendable = null;
    forgetShares();
    for (QuotaNode child : children) {
      child.rebuild(pairs);
    }
    computeHeight();
    computeWorkloads();
    for (int pair = 0; pair < pairs; pair++) {
      rebuildPair(pair);
    }
    openPairs = 0;
    for (int pair = 0; pair < Math.min(pairs, Long.SIZE); pair++) {
      if (local(pair) == 0 && borrowingLimit(pair) == ResourceAmounts.UNLIMITED) {
        openPairs |= 1L << pair;
      }
    }
    lentWhole = 0;
    for (int pair = 0; !queue && pair < Math.min(pairs, Long.SIZE); pair++) {
      if (lendsWhole(pair)) {
        lentWhole |= 1L << pair;
      }
    }
    borrows(borrowsAnything());
  }

  private boolean lendsWhole(int pair) {
    for (QuotaNode child : children) {
      if (child.local(pair) > 0 || !(child.queue || child.isLentWhole(pair))) {
        return false;
      }
    }
    return true;
  }

  private void rebuildPair(int pair) {
    if (plain != null) {
      plain.rebuild(pair, children);
    }
    guaranteed.rebuild(pair, nominal(pair), this);
    long quota = nominal(pair);
    for (QuotaNode child : children) {
      quota = ResourceAmounts.addQuota(quota, child.lent(pair));
    }
    if (quota != 0 || pair < subtree.length) {
      ensure(pair);
      subtree[pair] = quota;
    }
    if (!queue) {
      long used = usedByChildren(pair);
      if (used != 0 || usage.get(pair) != 0) {
        usage.set(pair, used);
      }
    }
  }

  private static long at(long[] amounts, int pair, long otherwise) {
    return pair < amounts.length ? amounts[pair] : otherwise;
  }

  private void ensure(int pair) {
    int oldSize = subtree.length;
    if (pair < oldSize) {
      return;
    }
    int size = Math.max(pair + 1, oldSize + 2);
    nominal = Arrays.copyOf(nominal, size);
    borrowingLimit = Arrays.copyOf(borrowingLimit, size);
    lendingLimit = Arrays.copyOf(lendingLimit, size);
    subtree = Arrays.copyOf(subtree, size);
    Arrays.fill(borrowingLimit, oldSize, size, ResourceAmounts.UNLIMITED);
    Arrays.fill(lendingLimit, oldSize, size, ResourceAmounts.UNLIMITED);
  }

  /**
   * The quota of a node as its object declares it, in trees where a rate multiplies quota
   * (docs/scheduling-semantics.md#annotated-queues): for views, and for the part that is never
   * lent, which no rate multiplies.
   */
  static final class PlainQuota {

    private Quota[] quotas = {};
    private long[] subtree = {};
    private long[] local = {};

    /** The declared quota of a pair. */
    Quota of(int pair) {
      return pair < quotas.length && quotas[pair] != null ? quotas[pair] : Quota.NONE;
    }

    void set(int pair, Quota quota) {
      if (pair >= quotas.length) {
        quotas = Arrays.copyOf(quotas, pair + 1);
      }
      quotas[pair] = quota;
    }

    /** S without any rate. */
    long subtree(int pair) {
      return pair < subtree.length ? subtree[pair] : 0;
    }

    /** The part that is never lent. */
    long local(int pair) {
      return pair < local.length ? local[pair] : 0;
    }

    /** Computes S and the local part of a pair from those of the children. */
    void rebuild(int pair, Iterable<QuotaNode> children) {
      long sum = of(pair).nominal();
      for (QuotaNode child : children) {
        sum = ResourceAmounts.addQuota(sum, child.plainLent(pair));
      }
      if (pair >= subtree.length) {
        subtree = Arrays.copyOf(subtree, pair + 1);
        local = Arrays.copyOf(local, pair + 1);
      }
      subtree[pair] = sum;
      long limit = of(pair).lendingLimit();
      local[pair] =
          limit == ResourceAmounts.UNLIMITED
              ? 0
              : Math.max(0, ResourceAmounts.subtract(sum, limit));
    }
  }
}
