package dev.sluice.core.scheduling;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.quota.UsageVector;
import dev.sluice.core.scheduling.flavor.AssignedPlaces;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.core.scheduling.preemption.PreemptionTarget;
import dev.sluice.core.topology.TopologyUsage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reservations of heads that were processed earlier in a cycle and are not admitted yet: usage that
 * is added until the cycle ends, and preemption targets whose usage counts as free for later heads.
 */
final class CycleReservations {

  private record Entry(QuotaNode node, int pair, long amount, boolean guaranteed) {

    void add() {
      node.add(pair, amount);
      if (guaranteed) {
        node.addGuaranteed(pair, amount);
      }
    }

    void remove() {
      node.remove(pair, amount);
      if (guaranteed) {
        node.removeGuaranteed(pair, amount);
      }
    }
  }

  private static final class TreeReservations {
    private final List<Entry> entries = new ArrayList<>();
    private final List<PreemptionTarget> preemptionTargets = new ArrayList<>();
    private final Set<QuotaHolder> quotaHolders = new HashSet<>();
    private final UsageVector targetUsage = new UsageVector();
    private final List<TopologyUsage> places = new ArrayList<>(0);

    void add(PreemptionTarget preemptionTarget) {
      preemptionTargets.add(preemptionTarget);
      if (quotaHolders.add(preemptionTarget.quotaHolder())) {
        for (int i = 0; i < preemptionTarget.quotaHolder().size(); i++) {
          targetUsage.add(
              preemptionTarget.quotaHolder().pair(i), preemptionTarget.quotaHolder().amount(i));
        }
      }
    }

    /** Whether a usage may fit without the targets: at most the targets' usage becomes free. */
    boolean mayFit(QuotaNode node, List<PairAmount> usage) {
      for (PairAmount request : usage) {
        if (request.amount()
            > ResourceAmounts.add(
                node.available(request.pair()), targetUsage.get(request.pair()))) {
          return false;
        }
      }
      return true;
    }
  }

  private final Map<QuotaNode, TreeReservations> trees = new HashMap<>();

  private TreeReservations tree(QuotaNode node) {
    return trees.computeIfAbsent(node.root(), root -> new TreeReservations());
  }

  private @Nullable TreeReservations existing(QuotaNode node) {
    return trees.isEmpty() ? null : trees.get(node.root());
  }

  /** Adds usage until the cycle ends. */
  void reserve(QuotaNode node, List<PairAmount> usage, boolean guaranteed) {
    TreeReservations tree = tree(node);
    for (PairAmount request : usage) {
      Entry entry = new Entry(node, request.pair(), request.amount(), guaranteed);
      entry.add();
      tree.entries.add(entry);
    }
  }

  /** Adds the usage of places until the cycle ends. */
  void reserve(QuotaNode node, AssignedPlaces places) {
    TopologyUsage usage = places.usage();
    if (usage != null) {
      usage.add();
      tree(node).places.add(usage);
    }
  }

  /**
   * Whether the places of a nominated Workload are still free, without its own targets; heads
   * before it, of its tree or of another one, may have taken them.
   */
  boolean placesFit(NominatedWorkload entry) {
    AssignedPlaces places = entry.assignment().places();
    return places.usage() == null
        || (entry.preemptionTargets().isEmpty()
            ? places.fits()
            : assumingRemoved(entry.preemptionTargets(), places::fits));
  }

  /** Adds preemption targets; later heads in the tree treat their usage as free. */
  void addTargets(QuotaNode node, List<PreemptionTarget> preemptionTargets) {
    TreeReservations tree = tree(node);
    preemptionTargets.forEach(tree::add);
  }

  /** Whether one of these is already a target of an earlier head. */
  boolean overlaps(QuotaNode node, List<PreemptionTarget> preemptionTargets) {
    TreeReservations tree = existing(node);
    if (tree != null) {
      for (PreemptionTarget preemptionTarget : preemptionTargets) {
        if (tree.quotaHolders.contains(preemptionTarget.quotaHolder())) {
          return true;
        }
      }
    }
    return false;
  }

  /** Whether a head fits without all targets so far and without its own targets. */
  boolean fitsWithoutTargets(NominatedWorkload entry) {
    QuotaNode node = entry.queue().node();
    List<PairAmount> usage = entry.assignment().usage();
    List<PreemptionTarget> own = entry.preemptionTargets();
    boolean guaranteed = entry.guaranteed();
    TreeReservations tree = existing(node);
    // Removing targets only frees quota.
    boolean fitsAlready = fits(node, usage, guaranteed);
    if (fitsAlready || (own.isEmpty() && (tree == null || !tree.mayFit(node, usage)))) {
      return fitsAlready;
    }
    List<PreemptionTarget> removed = new ArrayList<>(own);
    if (tree != null) {
      removed.addAll(tree.preemptionTargets);
    }
    return assumingRemoved(removed, () -> fits(node, usage, guaranteed));
  }

  /** Whether a head fits with the usage of all targets, and without reservations of this cycle. */
  boolean fitsWithTargets(NominatedWorkload entry) {
    QuotaNode node = entry.queue().node();
    List<PairAmount> usage = entry.assignment().usage();
    boolean guaranteed = entry.guaranteed();
    TreeReservations tree = existing(node);
    if (tree == null) {
      return fits(node, usage, guaranteed);
    }
    tree.entries.reversed().forEach(Entry::remove);
    boolean fits = fits(node, usage, guaranteed);
    tree.entries.forEach(Entry::add);
    return fits;
  }

  /** Nominates a head again, without the usage of all targets so far. */
  NominatedWorkload renominate(QuotaNode node, Nominator nominator, NominatedWorkload before) {
    TreeReservations tree = tree(node);
    tree.preemptionTargets.forEach(PreemptionTarget::removeUsage);
    NominatedWorkload renominated = nominator.renominate(before);
    tree.preemptionTargets.reversed().forEach(PreemptionTarget::restoreUsage);
    return renominated;
  }

  private static boolean assumingRemoved(
      List<PreemptionTarget> removed, BooleanSupplier condition) {
    removed.forEach(PreemptionTarget::removeUsage);
    boolean answer = condition.getAsBoolean();
    removed.reversed().forEach(PreemptionTarget::restoreUsage);
    return answer;
  }

  private static boolean fits(QuotaNode node, List<PairAmount> usage, boolean guaranteed) {
    for (PairAmount request : usage) {
      if (request.amount() > node.available(request.pair(), guaranteed)) {
        return false;
      }
    }
    return true;
  }

  /** Removes all usage that this cycle added. */
  void undo() {
    for (TreeReservations tree : trees.values()) {
      tree.entries.reversed().forEach(Entry::remove);
      tree.places.forEach(TopologyUsage::remove);
    }
    trees.clear();
  }
}
