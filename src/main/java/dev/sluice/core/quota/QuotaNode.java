package dev.sluice.core.quota;

import dev.sluice.core.model.Quota;
import dev.sluice.core.model.ResourceAmounts;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A ClusterQueue or a cohort in the quota tree. Formulae: docs/scheduling-semantics.md#quota-tree.
 * For each pair N is the nominal quota, S that of the subtree, U the usage seen here; B and L are
 * the limits of borrowing and lending. Confined to one thread.
 */
public final class QuotaNode {

  private static final long[] NO_AMOUNTS = {};

  private final String name;
  private final boolean queue;
  private @Nullable QuotaNode parent;
  private final List<QuotaNode> children = new ArrayList<>();
  private int height;
  private BigDecimal weight = BigDecimal.ONE;
  private long @Nullable [] lendable;
  private @Nullable DominantResourceShare dominantResourceShare;
  private long[] nominal = NO_AMOUNTS;
  private long[] borrowingLimit = NO_AMOUNTS;
  private long[] lendingLimit = NO_AMOUNTS;
  private long[] subtree = NO_AMOUNTS;
  private final UsageVector usage = new UsageVector();

  QuotaNode(String name, boolean queue) {
    this.name = name;
    this.queue = queue;
  }

  /** The name of the ClusterQueue or cohort. */
  public String name() {
    return name;
  }

  /** Whether it is a ClusterQueue. */
  public boolean isQueue() {
    return queue;
  }

  /** The cohort above; null for a root. */
  public @Nullable QuotaNode parent() {
    return parent;
  }

  /** The root of its tree: itself if nothing is above. */
  public QuotaNode root() {
    QuotaNode node = this;
    while (node.parent != null) {
      node = node.parent;
    }
    return node;
  }

  /** Names from the root of its tree down to itself. */
  public List<String> path() {
    List<String> names = new ArrayList<>();
    for (QuotaNode node = this; node != null; node = node.parent) {
      names.add(node.name);
    }
    return names.reversed();
  }

  /** Queues and cohorts directly below, in the order of their names. */
  public List<QuotaNode> children() {
    return Collections.unmodifiableList(children);
  }

  /** 0 for a queue, 1 for a cohort that has only queues, else one more than its highest cohort. */
  public int height() {
    return height;
  }

  /** Its weight where idle quota is shared fairly. */
  BigDecimal weight() {
    return weight;
  }

  void weight(BigDecimal newWeight) {
    weight = newWeight;
    dominantResourceShare = null;
  }

  /** Its share as it was computed last; null since usage, quota or place changed. */
  @Nullable DominantResourceShare knownShare() {
    return dominantResourceShare;
  }

  void knownShare(DominantResourceShare computed) {
    dominantResourceShare = computed;
  }

  /** What could ever be available here, by the number of the resource: that of all flavors. */
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

  /** N: its own quota. */
  public long nominal(int pair) {
    return at(nominal, pair, 0);
  }

  /** B: how much it may take from above; unlimited if absent. */
  public long borrowingLimit(int pair) {
    return at(borrowingLimit, pair, ResourceAmounts.UNLIMITED);
  }

  /** L: how much it lends; unlimited if absent. */
  public long lendingLimit(int pair) {
    return at(lendingLimit, pair, ResourceAmounts.UNLIMITED);
  }

  /** S: the quota of the subtree: its own, and what its children lend. */
  public long subtreeQuota(int pair) {
    return at(subtree, pair, 0);
  }

  /** U: what is used here: for a cohort, what its children use beyond what they never lend. */
  public long usage(int pair) {
    return usage.get(pair);
  }

  /** The part of S that is never lent: max(0, S - L) with a lending limit, else nothing. */
  public long local(int pair) {
    long limit = lendingLimit(pair);
    return limit == ResourceAmounts.UNLIMITED
        ? 0
        : Math.max(0, ResourceAmounts.subtract(subtreeQuota(pair), limit));
  }

  /**
   * What is free for this node now. It may be negative for a cohort whose quota was lowered; for a
   * queue it is at least 0.
   */
  public long available(int pair) {
    long free = free(pair);
    return queue ? Math.max(0, free) : free;
  }

  private long free(int pair) {
    long quota = subtreeQuota(pair);
    long used = usage(pair);
    QuotaNode above = parent;
    if (above == null) {
      return ResourceAmounts.subtract(quota, used);
    }
    long local = local(pair);
    long borrowable = above.free(pair);
    long limit = borrowingLimit(pair);
    if (limit != ResourceAmounts.UNLIMITED) {
      long lendable = ResourceAmounts.subtract(quota, local);
      long beyond = Math.max(0, ResourceAmounts.subtract(used, local));
      long ceiling = ResourceAmounts.add(ResourceAmounts.subtract(lendable, beyond), limit);
      borrowable = Math.min(borrowable, ceiling);
    }
    return ResourceAmounts.add(Math.max(0, ResourceAmounts.subtract(local, used)), borrowable);
  }

  /** What could ever be available to this node, if nothing was used. */
  public long potential(int pair) {
    long quota = subtreeQuota(pair);
    QuotaNode above = parent;
    if (above == null) {
      return quota;
    }
    long withParent = ResourceAmounts.add(local(pair), above.potential(pair));
    long limit = borrowingLimit(pair);
    return limit == ResourceAmounts.UNLIMITED
        ? withParent
        : Math.min(withParent, ResourceAmounts.add(quota, limit));
  }

  /** Uses {@code amount} more: what goes beyond the free local part is taken from above. */
  public void add(int pair, long amount) {
    dominantResourceShare = null;
    long before = usage.get(pair);
    if (!queue && before == ResourceAmounts.UNLIMITED) {
      recomputeUsage(pair);
      return;
    }
    usage.add(pair, amount);
    QuotaNode above = parent;
    if (above == null) {
      return;
    }
    if (before == ResourceAmounts.UNLIMITED || usage.get(pair) == ResourceAmounts.UNLIMITED) {
      above.recomputeUsage(pair);
      return;
    }
    long localFree = Math.max(0, local(pair) - before);
    if (amount > localFree) {
      above.add(pair, amount - localFree);
    }
  }

  /** Gives {@code amount} back: what was taken from above goes back there first. */
  public void remove(int pair, long amount) {
    dominantResourceShare = null;
    long before = usage.get(pair);
    if (!queue && before == ResourceAmounts.UNLIMITED) {
      recomputeUsage(pair);
      return;
    }
    usage.subtract(pair, amount);
    QuotaNode above = parent;
    if (above == null) {
      return;
    }
    if (before == ResourceAmounts.UNLIMITED) {
      above.recomputeUsage(pair);
      return;
    }
    long borrowed = Math.max(0, before - local(pair));
    if (borrowed > 0) {
      above.remove(pair, Math.min(amount, borrowed));
    }
  }

  /** Usage of cohorts anew, from here up: where a child's is too large to show, steps mislead. */
  private void recomputeUsage(int pair) {
    dominantResourceShare = null;
    usage.set(pair, usedByChildren(pair));
    QuotaNode above = parent;
    if (above != null) {
      above.recomputeUsage(pair);
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

  /** Whether it uses more than it has: U > N for a queue, U > S for a cohort. */
  public boolean borrowing(int pair) {
    return usage(pair) > subtreeQuota(pair);
  }

  /** Whether it uses more than it has of any pair. */
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
   * How high in the tree a request must go: the height of the lowest ancestor whose subtree quota
   * can hold it on top of what is used, each level absorbing what it has free and never lends; 0
   * when the own quota can, or without a cohort; the root's height if even the root can't.
   */
  public int borrowLevel(int pair, long amount) {
    QuotaNode holder = holder(pair, amount);
    return holder == null ? root().height() : holder.height();
  }

  /**
   * Whether quota for a request may be reclaimed inside the hierarchy: the lowest subtree that can
   * hold it has something above it.
   */
  public boolean mayReclaim(int pair, long amount) {
    QuotaNode holder = holder(pair, amount);
    return holder != null && holder.parent != null;
  }

  /** What is free here and never lent. */
  public long localAvailable(int pair) {
    return Math.max(0, ResourceAmounts.subtract(local(pair), usage(pair)));
  }

  /** The lowest node whose subtree quota can hold the request; null if even the root can't. */
  private @Nullable QuotaNode holder(int pair, long amount) {
    QuotaNode node = this;
    long remaining = amount;
    if (parent == null) {
      return this;
    }
    while (ResourceAmounts.add(node.usage(pair), remaining) > node.subtreeQuota(pair)) {
      remaining -= Math.min(remaining, node.localAvailable(pair));
      QuotaNode above = node.parent;
      if (above == null) {
        return null;
      }
      node = above;
    }
    return node;
  }

  void setQuota(int pair, Quota quota) {
    ensure(pair);
    nominal[pair] = quota.nominal();
    borrowingLimit[pair] = quota.borrowingLimit();
    lendingLimit[pair] = quota.lendingLimit();
  }

  /** Forgets quota and place in the tree; a queue keeps its usage. */
  void detach() {
    parent = null;
    weight = BigDecimal.ONE;
    lendable = null;
    dominantResourceShare = null;
    children.clear();
    Arrays.fill(nominal, 0);
    Arrays.fill(borrowingLimit, ResourceAmounts.UNLIMITED);
    Arrays.fill(lendingLimit, ResourceAmounts.UNLIMITED);
    if (!queue) {
      usage.clear();
    }
  }

  void attach(QuotaNode child) {
    child.parent = this;
    children.add(child);
  }

  /** Computes height, subtree quota and (for cohorts) usage anew, from the children up. */
  void rebuild(int pairs) {
    lendable = null;
    dominantResourceShare = null;
    for (QuotaNode child : children) {
      child.rebuild(pairs);
    }
    height = queue ? 0 : 1;
    for (QuotaNode child : children) {
      height = Math.max(height, child.height + 1);
    }
    for (int pair = 0; pair < pairs; pair++) {
      rebuildPair(pair);
    }
  }

  private void rebuildPair(int pair) {
    long quota = nominal(pair);
    for (QuotaNode child : children) {
      quota =
          ResourceAmounts.add(
              quota, ResourceAmounts.subtract(child.subtreeQuota(pair), child.local(pair)));
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
    int had = subtree.length;
    if (pair < had) {
      return;
    }
    int size = Math.max(pair + 1, had + 2);
    nominal = Arrays.copyOf(nominal, size);
    borrowingLimit = Arrays.copyOf(borrowingLimit, size);
    lendingLimit = Arrays.copyOf(lendingLimit, size);
    subtree = Arrays.copyOf(subtree, size);
    Arrays.fill(borrowingLimit, had, size, ResourceAmounts.UNLIMITED);
    Arrays.fill(lendingLimit, had, size, ResourceAmounts.UNLIMITED);
  }
}
