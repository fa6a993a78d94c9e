package dev.sluice.core.quota;

import static dev.sluice.core.model.ResourceAmounts.UNLIMITED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random trees, limits (0 and unlimited among them), moves and cycles of cohorts, against the
 * formulas of docs/scheduling-semantics.md#quota-tree in numbers that don't overflow.
 */
class QuotaTreePropertyTest {

  private static final int TREES = 3_000;
  private static final int STEPS = 40;
  private static final BigInteger INFINITE = BigInteger.TWO.pow(100);
  private static final long[] AMOUNTS = {0, 0, 1, 2, 5, 9, 14, 1L << 58, UNLIMITED};

  /** The declaration of a queue or cohort, and the usage of a queue. */
  private record Declared(String parent, Quota quota) {}

  private final Map<String, Declared> declared = new HashMap<>();
  private final Map<String, Long> used = new HashMap<>();
  private FlavorResourceIndex pairs = new FlavorResourceIndex();
  private CohortHierarchy trees = new CohortHierarchy(pairs);
  private int cpu;

  private static long amount(Random random) {
    return AMOUNTS[random.nextInt(AMOUNTS.length)];
  }

  private void declare(Random random, String name, boolean queue) {
    String parent = random.nextInt(5) == 0 ? "" : "c" + random.nextInt(4);
    long limit = random.nextInt(3) == 0 ? UNLIMITED : amount(random);
    Quota quota = new Quota(amount(random), amount(random), limit);
    List<ResourceGroup> groups =
        List.of(
            new ResourceGroup(
                List.of("cpu"),
                List.of(new ResourceGroup.FlavorQuotas("f", Map.of("cpu", quota)))));
    declared.put(name, new Declared(parent, quota));
    if (queue) {
      used.putIfAbsent(name, 0L);
      trees.declareQueue(name, parent, groups);
    } else {
      trees.declareCohort(name, parent, groups);
    }
  }

  private static BigInteger big(long amount) {
    return amount == UNLIMITED ? INFINITE : BigInteger.valueOf(amount);
  }

  private static long clamped(BigInteger amount) {
    return amount.bitLength() > 63 || amount.equals(BigInteger.valueOf(Long.MAX_VALUE))
        ? UNLIMITED
        : amount.longValueExact();
  }

  private boolean inCycle(String cohort) {
    String name = cohort;
    for (int i = 0; i <= declared.size(); i++) {
      if (name.isEmpty()) {
        return false;
      }
      name = parentOf(name);
    }
    return true;
  }

  private String parentOf(String name) {
    Declared found = declared.get(name);
    return found == null ? "" : found.parent;
  }

  /** The parent in the tree; empty for a root. */
  private String above(String name) {
    String parent = parentOf(name);
    return parent.isEmpty() || inCycle(parent) ? "" : parent;
  }

  private BigInteger nominal(String name) {
    Declared found = declared.get(name);
    return found == null ? BigInteger.ZERO : big(found.quota.nominal());
  }

  private BigInteger borrowing(String name) {
    Declared found = declared.get(name);
    return found == null ? INFINITE : big(found.quota.borrowingLimit());
  }

  private BigInteger subtree(String name) {
    BigInteger sum = nominal(name);
    for (String child : declared.keySet()) {
      if (above(child).equals(name)) {
        sum = sum.add(lent(child));
      }
    }
    return sum;
  }

  private BigInteger lent(String name) {
    return subtree(name).subtract(local(name));
  }

  private BigInteger local(String name) {
    Declared found = declared.get(name);
    return found == null || found.quota.lendingLimit() == UNLIMITED
        ? BigInteger.ZERO
        : subtree(name).subtract(big(found.quota.lendingLimit())).max(BigInteger.ZERO);
  }

  private BigInteger usage(String name) {
    Long own = used.get(name);
    if (own != null) {
      return BigInteger.valueOf(own);
    }
    BigInteger sum = BigInteger.ZERO;
    for (String child : declared.keySet()) {
      if (above(child).equals(name)) {
        sum = sum.add(usage(child).subtract(local(child)).max(BigInteger.ZERO));
      }
    }
    return sum;
  }

  private BigInteger free(String name) {
    BigInteger quota = subtree(name);
    BigInteger usage = usage(name);
    if (above(name).isEmpty()) {
      return quota.subtract(usage);
    }
    BigInteger local = local(name);
    BigInteger beyond = usage.subtract(local).max(BigInteger.ZERO);
    BigInteger borrowable =
        free(above(name)).min(quota.subtract(local).subtract(beyond).add(borrowing(name)));
    return local.subtract(usage).max(BigInteger.ZERO).add(borrowable);
  }

  private QuotaNode node(String name) {
    QuotaNode queue = trees.queue(name);
    return queue != null ? queue : Objects.requireNonNull(trees.cohort(name));
  }

  private void compare(String where) {
    for (String name : declared.keySet()) {
      QuotaNode node = node(name);
      assertThat(node.subtreeQuota(cpu))
          .as("%s: subtree quota of %s in %s", where, name, declared)
          .isEqualTo(clamped(subtree(name)));
      assertThat(node.usage(cpu))
          .as("%s: usage of %s in %s, %s", where, name, declared, used)
          .isEqualTo(clamped(usage(name)));
      if (node.isQueue()) {
        assertThat(node.available(cpu))
            .as("%s: available to %s in %s, %s", where, name, declared, used)
            .isEqualTo(clamped(free(name).max(BigInteger.ZERO)));
      }
    }
  }

  private void change(Random random, String queue) {
    long own = used.getOrDefault(queue, 0L);
    QuotaNode node = node(queue);
    if (random.nextBoolean()) {
      long more = random.nextInt(3) == 0 ? Math.min(node.available(cpu), 30) : random.nextInt(12);
      node.add(cpu, more);
      used.put(queue, own + more);
    } else {
      long less = Math.min(own, random.nextInt(12));
      node.remove(cpu, less);
      used.put(queue, own - less);
    }
  }

  @Test
  void quotaUsageAndWhatIsAvailableFollowTheFormulasInEveryTree() {
    for (int seed = 0; seed < TREES; seed++) {
      Random random = new Random(seed);
      declared.clear();
      used.clear();
      pairs = new FlavorResourceIndex();
      trees = new CohortHierarchy(pairs);
      cpu = pairs.number("f", "cpu");
      for (int i = 0; i < 4; i++) {
        declare(random, "q" + i, true);
        declare(random, "c" + i, false);
      }
      trees.rebuildIfDirty();
      for (int step = 0; step < STEPS; step++) {
        if (random.nextInt(10) == 0) {
          boolean queue = random.nextBoolean();
          declare(random, (queue ? "q" : "c") + random.nextInt(4), queue);
          trees.rebuildIfDirty();
        } else {
          change(random, "q" + random.nextInt(4));
        }
        compare("seed " + seed + " step " + step);
      }
    }
  }
}
