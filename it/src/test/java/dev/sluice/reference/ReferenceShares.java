package dev.sluice.reference;

import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.reference.ReferenceTree.Node;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Dominant resource shares, word by word (docs/scheduling-semantics.md#fair-sharing). */
final class ReferenceShares {

  private final ReferenceTree tree;
  private final Set<FlavorResource> pairs;

  ReferenceShares(ReferenceTree tree) {
    this.tree = tree;
    this.pairs = tree.pairs();
  }

  /** DRS. */
  ReferenceShare of(Node node) {
    Optional<Node> parent = tree.parent(node);
    if (parent.isEmpty()) {
      return ReferenceShare.NONE;
    }
    Map<String, Long> borrowed = new TreeMap<>();
    Map<String, Long> lendable = new TreeMap<>();
    for (FlavorResource pair : pairs) {
      borrowed.merge(pair.resource(), Math.max(0, -tree.unused(node, pair)), ResourceAmounts::add);
      lendable.merge(pair.resource(), tree.potential(parent.get(), pair), ResourceAmounts::add);
    }
    BigDecimal weight = tree.weight(node);
    ReferenceShare most = ReferenceShare.NONE;
    for (var each : borrowed.entrySet()) {
      long whole = lendable.getOrDefault(each.getKey(), 0L);
      if (whole > 0) {
        ReferenceShare share =
            new ReferenceShare(
                BigInteger.valueOf(each.getValue()).multiply(BigInteger.valueOf(1000)),
                BigInteger.valueOf(whole),
                weight.movePointRight(6).toBigIntegerExact(),
                BigInteger.valueOf(1_000_000));
        most = share.compareTo(most) > 0 ? share : most;
      }
    }
    return most;
  }

  /** Whether it uses more than its subtree has, of anything. */
  boolean borrows(Node node) {
    return borrows(node, pairs);
  }

  boolean borrows(Node node, Set<FlavorResource> any) {
    return any.stream().anyMatch(pair -> tree.unused(node, pair) < 0);
  }
}
