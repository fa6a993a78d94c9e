package dev.sluice.core.quota;

import dev.sluice.core.model.ResourceAmounts;
import java.util.Arrays;

/**
 * The nominal quota of a node and all below it, and how much of it guaranteed Workloads use
 * (docs/scheduling-semantics.md#annotated-queues). Nothing is lent or borrowed here.
 */
final class GuaranteedQuota {

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
