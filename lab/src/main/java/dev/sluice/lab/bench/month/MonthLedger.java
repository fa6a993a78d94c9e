package dev.sluice.lab.bench.month;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup.Quota;
import java.util.List;
import java.util.Map;

/**
 * Adds up by itself what is in use, and judges every admission by the declarations of that moment.
 * Usage only grows by admissions; so if none exceeds a quota, quota isn't exceeded at any instant,
 * but for quotas that were lowered below what was in use.
 */
final class MonthLedger {

  private static final int PAIRS = DeclaredQueue.FLAVORS.size() * DeclaredQueue.RESOURCES.size();

  private final List<DeclaredQueue> queues;
  private final long[][] used;
  private final int queuesPerTree;
  private long admissions;

  MonthLedger(List<DeclaredQueue> queues, MonthSize size) {
    this.queues = queues;
    this.used = new long[queues.size()][PAIRS];
    this.queuesPerTree = size.teams() * size.queues();
  }

  /**
   * Counts an admission.
   *
   * @throws IllegalStateException when it exceeds a quota
   */
  void admit(int queue, List<PodSetAssignment> podSets) {
    admissions++;
    for (PodSetAssignment podSet : podSets) {
      for (Map.Entry<String, Long> amount : podSet.usage().entrySet()) {
        int flavor = DeclaredQueue.FLAVORS.indexOf(podSet.flavors().get(amount.getKey()));
        int resource = DeclaredQueue.RESOURCES.indexOf(amount.getKey());
        used[queue][pair(flavor, resource)] += amount.getValue();
        judge(queue, flavor, resource);
      }
    }
  }

  /** Counts that a job gave back what it had. */
  void release(int queue, List<PodSetAssignment> podSets) {
    for (PodSetAssignment podSet : podSets) {
      for (Map.Entry<String, Long> amount : podSet.usage().entrySet()) {
        int flavor = DeclaredQueue.FLAVORS.indexOf(podSet.flavors().get(amount.getKey()));
        int resource = DeclaredQueue.RESOURCES.indexOf(amount.getKey());
        used[queue][pair(flavor, resource)] -= amount.getValue();
      }
    }
  }

  private static int pair(int flavor, int resource) {
    return flavor * DeclaredQueue.RESOURCES.size() + resource;
  }

  private void judge(int number, int flavor, int resource) {
    DeclaredQueue queue = queues.get(number);
    Quota quota = queue.quota(flavor, resource);
    long inUse = used[number][pair(flavor, resource)];
    long most = ResourceAmounts.add(quota.nominal(), quota.borrowingLimit());
    if (quota.nominal() == 0 || inUse > most) {
      throw exceeded(queue.name, flavor, resource, inUse, most);
    }
    if (inUse <= own(quota)) {
      return;
    }
    long shared = 0;
    long lent = 0;
    int first = queue.tree * queuesPerTree;
    for (int i = first; i < first + queuesPerTree; i++) {
      Quota each = queues.get(i).quota(flavor, resource);
      shared += Math.max(0, used[i][pair(flavor, resource)] - own(each));
      lent += each.nominal() - own(each);
    }
    if (shared > lent) {
      throw exceeded("tree-" + queue.tree, flavor, resource, shared, lent);
    }
  }

  /** The part of a quota that is never lent. */
  private static long own(Quota quota) {
    return quota.lendingLimit() == ResourceAmounts.UNLIMITED
        ? 0
        : Math.max(0, quota.nominal() - quota.lendingLimit());
  }

  private static IllegalStateException exceeded(
      String where, int flavor, int resource, long inUse, long most) {
    return new IllegalStateException(
        "%s: %d of %s in %s are in use, of %d"
            .formatted(
                where,
                inUse,
                DeclaredQueue.RESOURCES.get(resource),
                DeclaredQueue.FLAVORS.get(flavor),
                most));
  }

  /** Thousandths of a CPU that a queue uses, in all flavors. */
  long cpuOf(int queue) {
    long sum = 0;
    for (int flavor = 0; flavor < DeclaredQueue.FLAVORS.size(); flavor++) {
      sum += used[queue][pair(flavor, 0)];
    }
    return sum;
  }

  /** Thousandths of a CPU that a queue's quota has, in all flavors. */
  long quotaOf(int queue) {
    long sum = 0;
    for (int flavor = 0; flavor < DeclaredQueue.FLAVORS.size(); flavor++) {
      sum += queues.get(queue).quota(flavor, 0).nominal();
    }
    return sum;
  }

  /** How many admissions were judged. */
  long admissions() {
    return admissions;
  }

  /** Whether nothing is in use. */
  boolean isEmpty() {
    for (long[] ofQueue : used) {
      for (long amount : ofQueue) {
        if (amount != 0) {
          return false;
        }
      }
    }
    return true;
  }
}
