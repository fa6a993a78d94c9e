package dev.sluice.reference;

import dev.sluice.core.model.FlavorResource;
import dev.sluice.reference.ReferenceTree.Node;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Who is next in a cycle where queues share fairly, word by word
 * (docs/scheduling-semantics.md#the-cycle).
 */
final class ReferenceTournament {

  /** A head, its queue, and what it would take. */
  record Head(ReferenceEntry entry, String queue, Map<FlavorResource, Long> usage) {

    Set<FlavorResource> asked() {
      return usage.keySet();
    }
  }

  /** A head, as it is seen at a cohort: by the child of the cohort that it comes from. */
  private record Rival(Head head, boolean borrows, ReferenceShare share) {}

  private final ReferenceTree tree;
  private final boolean nonBorrowingFirst;
  private final List<Head> heads;

  /**
   * @param tree usage as it stands
   * @param heads those who are left
   */
  ReferenceTournament(ReferenceTree tree, boolean nonBorrowingFirst, List<Head> heads) {
    this.tree = tree;
    this.nonBorrowingFirst = nonBorrowingFirst;
    this.heads = heads;
  }

  /** Who wins in the tree of any of them. */
  Head winner() {
    Node queue = new Node(true, heads.getFirst().queue());
    List<Node> above = tree.ancestors(queue);
    return above.isEmpty() ? heads.getFirst() : winner(above.getLast()).orElseThrow();
  }

  private Optional<Head> winner(Node node) {
    if (node.isQueue()) {
      return heads.stream().filter(head -> head.queue().equals(node.name())).findFirst();
    }
    List<Rival> rivals = new ArrayList<>();
    for (Node child : tree.children(node)) {
      winner(child).ifPresent(head -> rivals.add(rival(head, child)));
    }
    return rivals.stream()
        .min(
            Comparator.comparing((Rival rival) -> nonBorrowingFirst && rival.borrows())
                .thenComparing(Rival::share)
                .thenComparing(rival -> rival.head().entry(), ReferenceQueues.AGE))
        .map(Rival::head);
  }

  private Rival rival(Head head, Node child) {
    ReferenceTree with = tree.copy();
    with.add(head.queue(), head.usage());
    ReferenceShares shares = new ReferenceShares(with);
    return new Rival(head, shares.borrows(child, head.asked()), shares.of(child));
  }
}
