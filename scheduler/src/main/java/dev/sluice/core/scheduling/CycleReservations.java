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
import java.util.Collection;
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

    /** Adds a target, unless a head before has the same one: its usage becomes free only once. */
    void add(PreemptionTarget preemptionTarget) {
      if (quotaHolders.add(preemptionTarget.quotaHolder())) {
        preemptionTargets.add(preemptionTarget);
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
   * Whether the places of a head are still free without all targets so far and without its own
   * targets; heads before it, of its tree or of another one, may have taken them.
   */
  boolean placesFitWithoutTargets(NominatedWorkload entry) {
    AssignedPlaces places = entry.assignment().places();
    if (places.dependsOnGroups()) {
      // The groups that count are those without targets, as when the places were found.
      return assumingRemoved(targets(entry, trees.values()), places::fits);
    }
    // Removing targets only frees places.
    // Targets of other trees may free places, too.
    return places.fits() || assumingRemoved(targets(entry, trees.values()), places::fits);
  }

  /** The targets of a head and those of heads before it in some trees, each once. */
  private static List<PreemptionTarget> targets(
      NominatedWorkload entry, Collection<TreeReservations> ofTrees) {
    Set<QuotaHolder> removed = new HashSet<>();
    List<PreemptionTarget> all = new ArrayList<>();
    for (PreemptionTarget own : entry.preemptionTargets()) {
      removed.add(own.quotaHolder());
      all.add(own);
    }
    for (TreeReservations tree : ofTrees) {
      for (PreemptionTarget other : tree.preemptionTargets) {
        if (removed.add(other.quotaHolder())) {
          all.add(other);
        }
      }
    }
    return all;
  }

  /** Whether places are free with the usage of all targets, and without reservations. */
  private boolean placesFitWithTargets(AssignedPlaces places) {
    trees.values().forEach(tree -> tree.places.forEach(TopologyUsage::remove));
    boolean fit = places.fits();
    trees.values().forEach(tree -> tree.places.forEach(TopologyUsage::add));
    return fit;
  }

  /** Adds preemption targets; later heads in the tree of each treat its usage as free. */
  void addTargets(List<PreemptionTarget> preemptionTargets) {
    for (PreemptionTarget preemptionTarget : preemptionTargets) {
      tree(preemptionTarget.queue().node()).add(preemptionTarget);
    }
  }

  /** Whether no head has targets so far. */
  boolean hasNoTargets() {
    for (TreeReservations tree : trees.values()) {
      if (!tree.preemptionTargets.isEmpty()) {
        return false;
      }
    }
    return true;
  }

  /** Whether one of these is already a target of an earlier head. */
  boolean overlaps(List<PreemptionTarget> preemptionTargets) {
    for (PreemptionTarget preemptionTarget : preemptionTargets) {
      TreeReservations tree = existing(preemptionTarget.queue().node());
      if (tree != null && tree.quotaHolders.contains(preemptionTarget.quotaHolder())) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether there may be quota for a head that needs no targets of its own without all targets so
   * far; if not, {@link #quotaFitsWithoutTargets} is false, too.
   */
  boolean mayFitWithoutTargets(NominatedWorkload entry) {
    QuotaNode node = entry.queue().node();
    List<PairAmount> usage = entry.assignment().usage();
    TreeReservations tree = existing(node);
    return fits(node, usage, entry.guaranteed()) || (tree != null && tree.mayFit(node, usage));
  }

  /** Whether there is quota for a head without all targets so far and without its own targets. */
  boolean quotaFitsWithoutTargets(NominatedWorkload entry) {
    QuotaNode node = entry.queue().node();
    List<PairAmount> usage = entry.assignment().usage();
    boolean guaranteed = entry.guaranteed();
    TreeReservations tree = existing(node);
    // Removing targets only frees quota.
    boolean fitsAlready = fits(node, usage, guaranteed);
    if (fitsAlready
        || (entry.preemptionTargets().isEmpty() && (tree == null || !tree.mayFit(node, usage)))) {
      return fitsAlready;
    }
    return assumingRemoved(
        targets(entry, tree == null ? List.of() : List.of(tree)),
        () -> fits(node, usage, guaranteed));
  }

  /** Whether a head fits with the usage of all targets, and without reservations of this cycle. */
  boolean fitsWithTargets(NominatedWorkload entry) {
    QuotaNode node = entry.queue().node();
    List<PairAmount> usage = entry.assignment().usage();
    boolean guaranteed = entry.guaranteed();
    TreeReservations tree = existing(node);
    if (entry.assignment().places().usage() != null
        && !placesFitWithTargets(entry.assignment().places())) {
      return false;
    }
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
    List<PreemptionTarget> removed =
        before.queue().topologyAware()
            ? trees.values().stream().flatMap(each -> each.preemptionTargets.stream()).toList()
            : tree(node).preemptionTargets;
    removed.forEach(PreemptionTarget::removeUsage);
    NominatedWorkload renominated = nominator.renominate(before);
    removed.reversed().forEach(PreemptionTarget::restoreUsage);
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
