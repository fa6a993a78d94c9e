package dev.sluice.kubequeue;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What each quota of a tree is as quota of a cohort: the rules of docs/kube-queue.md#arithmetic,
 * for one resource.
 */
final class QuotaArithmetic {

  /** Stands for no limit where an amount is needed; far more than any cluster has. */
  static final long UNLIMITED = Long.MAX_VALUE / 8;

  private final String resource;
  private final Map<String, Limits> limits = new HashMap<>();

  /**
   * Quota of one resource.
   *
   * @param nominal what it has itself
   * @param borrowing how much more it may use; empty: unlimited
   * @param lending how much others may use; empty: all
   * @param guaranteed its nominal quota with all that is guaranteed below it
   */
  record Limits(long nominal, Optional<Long> borrowing, Optional<Long> lending, long guaranteed) {}

  /** What a quota is to its parent. */
  private record Sum(long guaranteed, long lendable, long keptBelow) {}

  private QuotaArithmetic(String resource) {
    this.resource = resource;
  }

  /** The limits of each quota of the tree for this resource, by path. */
  static Map<String, Limits> limits(QuotaDeclaration root, String resource) {
    QuotaArithmetic arithmetic = new QuotaArithmetic(resource);
    arithmetic.add(root, true);
    return arithmetic.limits;
  }

  private Sum add(QuotaDeclaration quota, boolean top) {
    long below = 0;
    long lent = 0;
    long kept = 0;
    for (QuotaDeclaration child : quota.children()) {
      Sum sum = add(child, false);
      below = plus(below, sum.guaranteed());
      lent = plus(lent, sum.lendable());
      kept = plus(kept, sum.keptBelow());
    }
    long min = quota.min().getOrDefault(resource, 0L);
    long wanted = top ? quota.max().getOrDefault(resource, UNLIMITED) : min;
    long own = Math.max(0, wanted - below);
    long guaranteed = plus(own, below);
    long subtree = plus(own, lent);
    Long lendLimit = quota.lendLimit().get(resource);
    long keeps = 0;
    if (!top && lendLimit != null) {
      keeps = Math.clamp(min - lendLimit - kept, 0, subtree);
    }
    Optional<Long> borrowing =
        top
            ? Optional.empty()
            : Optional.ofNullable(quota.max().get(resource))
                .map(max -> Math.max(0, max - guaranteed));
    Optional<Long> lending = keeps > 0 ? Optional.of(subtree - keeps) : Optional.empty();
    limits.put(quota.path(), new Limits(own, borrowing, lending, guaranteed));
    return new Sum(guaranteed, subtree - keeps, plus(kept, keeps));
  }

  /** The sum, at most {@link #UNLIMITED}. */
  static long plus(long one, long other) {
    return Math.min(UNLIMITED, Math.min(UNLIMITED, one) + Math.min(UNLIMITED, other));
  }
}
