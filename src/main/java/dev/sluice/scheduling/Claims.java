package dev.sluice.scheduling;

import dev.sluice.model.Amounts;
import dev.sluice.queue.Holder;
import dev.sluice.quota.AmountSums;
import dev.sluice.quota.QuotaNode;
import dev.sluice.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.scheduling.preemption.Victim;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What those processed earlier in a cycle lay claim to without getting it yet: quota that is added
 * to usage until the cycle ends, and victims that the later ones reckon gone.
 */
final class Claims {

  private record Claim(QuotaNode node, int pair, long amount) {}

  private static final class OfTree {
    private final List<Claim> claims = new ArrayList<>();
    private final List<Victim> victims = new ArrayList<>();
    private final Set<Holder> holders = new HashSet<>();
    private final AmountSums held = new AmountSums();

    void add(Victim victim) {
      victims.add(victim);
      if (holders.add(victim.holder())) {
        for (int i = 0; i < victim.holder().size(); i++) {
          held.add(victim.holder().pair(i), victim.holder().amount(i));
        }
      }
    }

    /** Whether a usage may fit once the victims are gone: at most what they hold becomes free. */
    boolean mayFit(QuotaNode node, List<PairAmount> usage) {
      for (PairAmount use : usage) {
        if (use.amount() > Amounts.add(node.available(use.pair()), held.get(use.pair()))) {
          return false;
        }
      }
      return true;
    }
  }

  private final Map<QuotaNode, OfTree> trees = new HashMap<>();

  private OfTree tree(QuotaNode node) {
    return trees.computeIfAbsent(node.root(), root -> new OfTree());
  }

  private @Nullable OfTree known(QuotaNode node) {
    return trees.isEmpty() ? null : trees.get(node.root());
  }

  /** Adds to usage until the cycle ends. */
  void claim(QuotaNode node, List<PairAmount> usage) {
    OfTree tree = tree(node);
    for (PairAmount use : usage) {
      node.add(use.pair(), use.amount());
      tree.claims.add(new Claim(node, use.pair(), use.amount()));
    }
  }

  /** Remembers victims: later ones in the tree reckon them gone. */
  void victims(QuotaNode node, List<Victim> victims) {
    OfTree tree = tree(node);
    victims.forEach(tree::add);
  }

  /** Whether one of these is a victim of somebody before already. */
  boolean overlap(QuotaNode node, List<Victim> victims) {
    OfTree tree = known(node);
    if (tree != null) {
      for (Victim victim : victims) {
        if (tree.holders.contains(victim.holder())) {
          return true;
        }
      }
    }
    return false;
  }

  /** Whether usage fits when all victims so far, and these, are gone. */
  boolean fitsAfter(QuotaNode node, List<PairAmount> usage, List<Victim> own) {
    OfTree tree = known(node);
    // Whoever leaves only makes more room.
    boolean roomy = fits(node, usage);
    if (roomy || (own.isEmpty() && (tree == null || !tree.mayFit(node, usage)))) {
      return roomy;
    }
    List<Victim> gone = new ArrayList<>(own);
    if (tree != null) {
      gone.addAll(tree.victims);
    }
    return reckoningGone(gone, () -> fits(node, usage));
  }

  /** Whether usage fits while all victims are still there, and no claim counts. */
  boolean fitsNow(QuotaNode node, List<PairAmount> usage) {
    OfTree tree = known(node);
    if (tree == null) {
      return fits(node, usage);
    }
    tree.claims.reversed().forEach(claim -> claim.node.remove(claim.pair, claim.amount));
    boolean fits = fits(node, usage);
    tree.claims.forEach(claim -> claim.node.add(claim.pair, claim.amount));
    return fits;
  }

  /** Considers somebody anew when all victims so far are gone. */
  Nominated afterVictims(QuotaNode node, Nominator nominator, Nominated before) {
    OfTree tree = tree(node);
    tree.victims.forEach(Victim::leave);
    Nominated again = nominator.again(before);
    tree.victims.reversed().forEach(Victim::comeBack);
    return again;
  }

  private static boolean reckoningGone(List<Victim> gone, BooleanSupplier question) {
    gone.forEach(Victim::leave);
    boolean answer = question.getAsBoolean();
    gone.reversed().forEach(Victim::comeBack);
    return answer;
  }

  private static boolean fits(QuotaNode node, List<PairAmount> usage) {
    for (PairAmount use : usage) {
      if (use.amount() > node.available(use.pair())) {
        return false;
      }
    }
    return true;
  }

  /** The cycle is over: usage is again what is held. */
  void undo() {
    for (OfTree tree : trees.values()) {
      tree.claims.reversed().forEach(claim -> claim.node.remove(claim.pair, claim.amount));
    }
    trees.clear();
  }
}
