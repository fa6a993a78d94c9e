package dev.sluice.reference;

import dev.sluice.reference.ReferencePreemption.Victim;
import dev.sluice.reference.ReferenceTree.Node;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;

/**
 * Who goes first of those who are otherwise equal, and how much work is lost
 * (docs/preemption.md#checkpoints).
 */
final class ReferenceVictimOrder {

  /** By priority, then the one whose work would be lost for the shortest time. */
  static final Comparator<ReferenceHolder> BY_TIME =
      Comparator.comparing(ReferenceHolder::priority)
          .thenComparing(ReferenceHolder::lossSince, Comparator.reverseOrder())
          .thenComparing(holder -> holder.id().uid());

  private final ReferenceSnapshot world;
  private final Node root;

  /**
   * @param queue the queue of the preemptor
   */
  ReferenceVictimOrder(ReferenceSnapshot world, String queue) {
    this.world = world;
    Node self = new Node(true, queue);
    List<Node> above = world.tree().ancestors(self);
    this.root = above.isEmpty() ? self : above.getLast();
  }

  /** By priority, then the one that would lose the least work. */
  Comparator<ReferenceHolder> byWork() {
    return Comparator.comparing(ReferenceHolder::priority)
        .thenComparing(this::work)
        .thenComparing(BY_TIME);
  }

  /** The work that is lost with these, beside that of those who are on their way out. */
  double work(List<Victim> victims) {
    return victims.stream()
        .map(Victim::holder)
        .filter(holder -> !holder.evicted())
        .map(this::work)
        .reduce(0.0, Double::sum);
  }

  private double work(ReferenceHolder holder) {
    double part =
        holder.usage().entrySet().stream()
            .filter(each -> world.tree().subtree(root, each.getKey()) > 0)
            .mapToDouble(
                each -> (double) each.getValue() / world.tree().subtree(root, each.getKey()))
            .max()
            .orElse(0);
    long micros = Duration.between(holder.lossSince(), world.now()).toNanos() / 1_000;
    return part * Math.max(0, micros);
  }
}
