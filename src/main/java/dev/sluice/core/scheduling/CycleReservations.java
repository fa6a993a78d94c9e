package dev.sluice.core.scheduling;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.quota.UsageVector;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
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
final class CycleReservations {

  private record Entry(QuotaNode node, int pair, long amount) {}

  private static final class OfTree {
    private final List<Entry> entries = new ArrayList<>();
    private final List<PreemptionTarget> preemptionTargets = new ArrayList<>();
    private final Set<QuotaHolder> quotaHolders = new HashSet<>();
    private final UsageVector held = new UsageVector();

    void add(PreemptionTarget preemptionTarget) {
      preemptionTargets.add(preemptionTarget);
      if (quotaHolders.add(preemptionTarget.quotaHolder())) {
        for (int i = 0; i < preemptionTarget.quotaHolder().size(); i++) {
          held.add(
              preemptionTarget.quotaHolder().pair(i), preemptionTarget.quotaHolder().amount(i));
        }
      }
    }

    /** Whether a usage may fit once the victims are gone: at most what they hold becomes free. */
    boolean mayFit(QuotaNode node, List<PairAmount> usage) {
      for (PairAmount use : usage) {
        if (use.amount() > ResourceAmounts.add(node.available(use.pair()), held.get(use.pair()))) {
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

  private @Nullable OfTree tracked(QuotaNode node) {
    return trees.isEmpty() ? null : trees.get(node.root());
  }

  /** Adds to usage until the cycle ends. */
  void reserve(QuotaNode node, List<PairAmount> usage) {
    OfTree tree = tree(node);
    for (PairAmount use : usage) {
      node.add(use.pair(), use.amount());
      tree.entries.add(new Entry(node, use.pair(), use.amount()));
    }
  }

  /** Remembers victims: later ones in the tree reckon them gone. */
  void victims(QuotaNode node, List<PreemptionTarget> preemptionTargets) {
    OfTree tree = tree(node);
    preemptionTargets.forEach(tree::add);
  }

  /** Whether one of these is a victim of somebody before already. */
  boolean overlap(QuotaNode node, List<PreemptionTarget> preemptionTargets) {
    OfTree tree = tracked(node);
    if (tree != null) {
      for (PreemptionTarget preemptionTarget : preemptionTargets) {
        if (tree.quotaHolders.contains(preemptionTarget.quotaHolder())) {
          return true;
        }
      }
    }
    return false;
  }

  /** Whether usage fits when all victims so far, and these, are gone. */
  boolean fitsAfter(QuotaNode node, List<PairAmount> usage, List<PreemptionTarget> own) {
    OfTree tree = tracked(node);
    // Whoever leaves only makes more room.
    boolean roomy = fits(node, usage);
    if (roomy || (own.isEmpty() && (tree == null || !tree.mayFit(node, usage)))) {
      return roomy;
    }
    List<PreemptionTarget> gone = new ArrayList<>(own);
    if (tree != null) {
      gone.addAll(tree.preemptionTargets);
    }
    return assumingRemoved(gone, () -> fits(node, usage));
  }

  /** Whether usage fits while all victims are still there, and no claim counts. */
  boolean fitsNow(QuotaNode node, List<PairAmount> usage) {
    OfTree tree = tracked(node);
    if (tree == null) {
      return fits(node, usage);
    }
    tree.entries.reversed().forEach(entry -> entry.node.remove(entry.pair, entry.amount));
    boolean fits = fits(node, usage);
    tree.entries.forEach(entry -> entry.node.add(entry.pair, entry.amount));
    return fits;
  }

  /** Considers somebody anew when all victims so far are gone. */
  NominatedWorkload afterVictims(QuotaNode node, Nominator nominator, NominatedWorkload before) {
    OfTree tree = tree(node);
    tree.preemptionTargets.forEach(PreemptionTarget::removeUsage);
    NominatedWorkload again = nominator.again(before);
    tree.preemptionTargets.reversed().forEach(PreemptionTarget::restoreUsage);
    return again;
  }

  private static boolean assumingRemoved(List<PreemptionTarget> gone, BooleanSupplier question) {
    gone.forEach(PreemptionTarget::removeUsage);
    boolean answer = question.getAsBoolean();
    gone.reversed().forEach(PreemptionTarget::restoreUsage);
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
      tree.entries.reversed().forEach(entry -> entry.node.remove(entry.pair, entry.amount));
    }
    trees.clear();
  }
}
