package dev.sluice.core.quota;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup.Quota;
import java.util.Arrays;

/**
 * The quota of a node as its object declares it, in trees where a rate multiplies quota
 * (docs/scheduling-semantics.md#annotated-queues): for views, and for the part that is never lent,
 * which no rate multiplies.
 */
final class PlainQuota {

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
        limit == ResourceAmounts.UNLIMITED ? 0 : Math.max(0, ResourceAmounts.subtract(sum, limit));
  }
}
