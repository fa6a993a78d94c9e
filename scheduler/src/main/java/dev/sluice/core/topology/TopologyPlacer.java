package dev.sluice.core.topology;

import dev.sluice.core.model.FlavorRejection.TopologyShortage;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.Mode;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.topology.Capacity.Levels;
import dev.sluice.core.topology.DomainSelector.Need;
import dev.sluice.core.topology.DomainSelector.Selected;
import dev.sluice.core.topology.TopologyCache.Placement;
import dev.sluice.core.topology.TopologyOptions.PlacementRules;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Finds places for pods in a tree: counts what fits from the leaves up, finds the level at which it
 * fits, and descends to the leaves (docs/topology.md#how-places-are-found). Changes no usage.
 */
final class TopologyPlacer {

  private final TopologyTree tree;
  private final PlacementRules rules;
  private final ToIntFunction<String> resources;
  private final PlacementRequest request;
  private final Levels levels;
  private final Capacity capacity;
  private final DomainSelector selector;
  private final Need need;
  private final boolean leader;

  /** The pods of the partial slice; 0 without. */
  private final int partial;

  /** The domain of the slices' level that has the partial slice; -1 without. */
  private int partialDomain = -1;

  private TopologyPlacer(
      TopologyTree tree,
      PlacementRules rules,
      ToIntFunction<String> resources,
      PlacementRequest request,
      Levels levels) {
    this.tree = tree;
    this.rules = rules;
    this.resources = resources;
    this.request = request;
    this.levels = levels;
    this.capacity = tree.scratch();
    this.selector = new DomainSelector(capacity, levels, isUnconstrained() && rules.mixedProfile());
    this.leader = request.leader() != null;
    this.partial = request.pods().count() % levels.sliceSize();
    long whole = request.pods().count() / levels.sliceSize();
    this.need = new Need(partial > 0 ? whole + 1 : whole, leader, partial > 0);
  }

  /** Whether a topology has the levels that a request names, in the right order. */
  static boolean hasLevels(TopologyRequest request, TopologySpec spec) {
    return Levels.of(request, spec) != null;
  }

  /**
   * Finds places.
   *
   * @param resources numbers of resources
   * @param empty whether what Workloads use is ignored
   */
  static Placement place(
      TopologyTree tree,
      PlacementRules rules,
      ToIntFunction<String> resources,
      PlacementRequest request,
      boolean empty) {
    return place(tree, rules, resources, request, empty, NodeFilter.NONE);
  }

  /**
   * Finds places, but none in closed leaves.
   *
   * @param closed by number of the leaf
   */
  static Placement place(
      TopologyTree tree,
      PlacementRules rules,
      ToIntFunction<String> resources,
      PlacementRequest request,
      boolean empty,
      boolean[] closed) {
    Levels levels = Levels.of(request.topology(), tree.spec());
    if (levels == null) {
      throw new IllegalArgumentException("levels of " + request.topology() + " don't exist");
    }
    return new TopologyPlacer(tree, rules, resources, request, levels).place(empty, closed);
  }

  private boolean isUnconstrained() {
    Mode mode = request.topology().mode();
    return mode != Mode.REQUIRED && mode != Mode.PREFERRED;
  }

  private Placement place(boolean empty, boolean[] closed) {
    boolean scored =
        rules.preferredAffinity()
            && tree.spec().endsAtNodes()
            && !request.pods().constraints().preferred().isEmpty();
    capacity.count(request, levels, resources, empty, scored, closed);
    if (!request.topology().cuts(request.pods().count(), rules.partialSlices())) {
      return failed();
    }
    int level = levels.level();
    List<Selected> selected = null;
    if (rules.balanced() && request.topology().mode() == Mode.PREFERRED && closed.length == 0) {
      BalancedSelector.Balanced balanced =
          new BalancedSelector(tree, capacity, levels, selector).select(level, all(level), need);
      if (balanced != null) {
        return placed(descend(balanced.level(), balanced.domains(), true));
      }
    }
    Selected one = selector.single(level, all(level), need);
    while (one == null && level > 0 && request.topology().mode() == Mode.PREFERRED) {
      level--;
      one = selector.single(level, all(level), need);
    }
    if (one != null) {
      selected = List.of(one);
    } else if (request.topology().mode() != Mode.REQUIRED) {
      selected = selector.several(level, all(level), need);
    }
    return selected == null ? failed() : placed(descend(level, selected, false));
  }

  private int[] all(int level) {
    int[] domains = new int[tree.size(level)];
    for (int i = 0; i < domains.length; i++) {
      domains[i] = i;
    }
    return domains;
  }

  /**
   * Goes from selected domains down to leaves.
   *
   * @param apart whether each domain keeps its units; otherwise the children of all selected
   *     domains are pooled down to the level of the slices
   */
  private List<Selected> descend(int from, List<Selected> selected, boolean apart) {
    List<Selected> domains = selected;
    for (int level = from; level < tree.levels() - 1; level++) {
      List<Selected> below = new ArrayList<>();
      if (level < levels.sliceLevel() && !apart) {
        below.addAll(required(selector.several(level + 1, children(level, domains), need)));
      } else {
        for (Selected each : domains) {
          long units = unitsBelow(level, each);
          if (units > 0 || each.leader()) {
            int[] children = children(level, List.of(each));
            boolean keeps = each.partial() && level < levels.sliceLevel();
            below.addAll(
                required(
                    selector.several(level + 1, children, new Need(units, each.leader(), keeps))));
          }
        }
      }
      domains = below;
    }
    return domains;
  }

  /** The units of the level below that are in a selected domain. */
  private long unitsBelow(int level, Selected each) {
    long units = each.units() * levels.units()[level] / levels.units()[level + 1];
    if (each.partial() && level == levels.sliceLevel()) {
      partialDomain = each.domain();
      return units - (levels.sliceSize() - partial);
    }
    return units;
  }

  private static List<Selected> required(@Nullable List<Selected> selected) {
    if (selected == null) {
      throw new IllegalStateException("a domain has less room than its children");
    }
    return selected;
  }

  private int[] children(int level, List<Selected> domains) {
    int size = 0;
    for (Selected each : domains) {
      size += tree.firstChild(level, each.domain() + 1) - tree.firstChild(level, each.domain());
    }
    int[] children = new int[size];
    int next = 0;
    for (Selected each : domains) {
      int to = tree.firstChild(level, each.domain() + 1);
      for (int c = tree.firstChild(level, each.domain()); c < to; c++) {
        children[next++] = c;
      }
    }
    return children;
  }

  private Placement.Placed placed(List<Selected> leaves) {
    int unit = levels.units()[tree.levels() - 1];
    int missing = 0;
    for (Selected each : leaves) {
      if (each.partial()) {
        partialDomain = each.domain();
        missing = levels.sliceSize() - partial;
      }
    }
    List<Selected> sorted = new ArrayList<>(leaves);
    sorted.sort(
        Comparator.<Selected, Boolean>comparing(each -> isWithPartial(each.domain()))
            .thenComparingInt(Selected::domain));
    List<TopologyAssignment.Domain> pods = new ArrayList<>(sorted.size());
    List<TopologyAssignment.Domain> leaders = new ArrayList<>(1);
    for (Selected each : sorted) {
      List<String> id = tree.idOf(each.domain());
      if (each.units() > 0) {
        long count = each.units() * unit - (each.partial() ? missing : 0);
        pods.add(new TopologyAssignment.Domain(id, Math.toIntExact(count)));
      }
      if (each.leader()) {
        leaders.add(new TopologyAssignment.Domain(id, 1));
      }
    }
    List<String> keys = tree.spec().assignedLevels();
    return new Placement.Placed(
        new TopologyAssignment(keys, pods),
        leaders.isEmpty() ? null : new TopologyAssignment(keys, leaders));
  }

  /**
   * Whether a leaf is in the domain with the partial slice: that comes last, so that the pods with
   * the highest ranks are the partial slice.
   */
  private boolean isWithPartial(int leaf) {
    return partialDomain >= 0 && tree.ancestor(levels.sliceLevel(), leaf) == partialDomain;
  }

  private Placement.Failed failed() {
    int level = levels.level();
    int size = levels.sliceSize();
    int best = -1;
    long bestRoom = -1;
    long total = 0;
    boolean spare = false;
    for (int i = 0; i < tree.size(level); i++) {
      boolean leads = leader && capacity.leads[level][i];
      long units = leader && !leads ? 0 : capacity.units(levels, level, i, leads);
      long room = units * size + (capacity.hasSpare(level, i) ? partial : 0);
      if (room > bestRoom) {
        best = i;
        bestRoom = room;
      }
      spare |= capacity.hasSpare(level, i);
      total += capacity.units(levels, level, i, false);
    }
    boolean single = request.topology().mode() == Mode.REQUIRED;
    boolean around = single && best >= 0 && level > 0;
    return new Placement.Failed(
        new TopologyShortage(
            single ? tree.spec().levels().get(level) : "",
            request.pods().count(),
            size,
            tree.spec().levels().get(levels.sliceLevel()),
            best < 0 ? "" : tree.value(level, best),
            Math.max(0, bestRoom),
            around ? tree.spec().levels().get(level - 1) : "",
            around ? size * capacity.units(levels, level - 1, tree.parent(level, best), false) : 0,
            total * size + (spare ? partial : 0),
            tree.size(level),
            capacity.excluded(request.pods()),
            leader));
  }

  /**
   * Selects sibling domains among which units are spread evenly
   * (docs/topology.md#balanced-placement).
   */
  private static final class BalancedSelector {

    /** Domains of one level, and what each of them gets. */
    record Balanced(int level, List<Selected> domains) {}

    private final TopologyTree tree;
    private final Capacity capacity;
    private final Levels levels;
    private final DomainSelector selector;

    BalancedSelector(TopologyTree tree, Capacity capacity, Levels levels, DomainSelector selector) {
      this.tree = tree;
      this.capacity = capacity;
      this.levels = levels;
      this.selector = selector;
    }

    /**
     * The siblings among which the smallest share is largest; of several such groups, the fewest
     * domains. Siblings are the children of a domain of the preferred level that has room for
     * everything; if none has, domains of that level with one parent. Null if there are none with
     * room for everything and for a unit in each of them.
     *
     * @param preferred the preferred level
     * @param all the numbers of its domains
     */
    @Nullable Balanced select(int preferred, int[] all, Need need) {
      List<Integer> sufficient = selector.sufficient(preferred, all, need);
      int level = sufficient.isEmpty() ? preferred : preferred + 1;
      if (level > levels.sliceLevel()) {
        return null;
      }
      List<Selected> best = null;
      long bestShare = 0;
      for (int[] siblings : sufficient.isEmpty() ? families(level) : children(level, sufficient)) {
        List<Selected> selected = selector.largest(level, siblings, need);
        if (selected == null || selected.isEmpty()) {
          continue;
        }
        long share = share(level, selected, need.units());
        if (share > bestShare
            || (best != null
                && share == bestShare
                && sharing(level, selected) < sharing(level, best))) {
          best = selected;
          bestShare = share;
        }
      }
      return best == null ? null : new Balanced(level, spread(level, best, need, bestShare));
    }

    private List<int[]> families(int level) {
      List<int[]> families = new ArrayList<>();
      int parents = level == 0 ? 1 : tree.size(level - 1);
      for (int parent = 0; parent < parents; parent++) {
        families.add(siblings(level, parent));
      }
      return families;
    }

    private List<int[]> children(int level, List<Integer> parents) {
      List<int[]> families = new ArrayList<>(parents.size());
      for (int parent : parents) {
        families.add(siblings(level, parent));
      }
      return families;
    }

    private int[] siblings(int level, int parent) {
      int from = level == 0 ? 0 : tree.firstChild(level - 1, parent);
      int to = level == 0 ? tree.size(0) : tree.firstChild(level - 1, parent + 1);
      int[] siblings = new int[to - from];
      for (int i = 0; i < siblings.length; i++) {
        siblings[i] = from + i;
      }
      return siblings;
    }

    /** The number of domains that get units; the leader's may have room for the leader alone. */
    private int sharing(int level, List<Selected> selected) {
      int count = 0;
      for (Selected each : selected) {
        count += room(level, each) > 0 ? 1 : 0;
      }
      return count;
    }

    /** The units that each domain gets at least; 0 if there is none that could get any. */
    private long share(int level, List<Selected> selected, long needed) {
      int count = sharing(level, selected);
      long share = count == 0 ? 0 : needed / count;
      for (Selected each : selected) {
        if (room(level, each) > 0) {
          share = Math.min(share, room(level, each));
        }
      }
      return share;
    }

    private long room(int level, Selected selected) {
      return capacity.units(levels, level, selected.domain(), selected.leader());
    }

    /**
     * Each domain gets its share; what is left goes to the first ones that have room, and a partial
     * slice to the last one.
     */
    private List<Selected> spread(int level, List<Selected> selected, Need need, long share) {
      List<Selected> result = new ArrayList<>(selected.size());
      long left = need.units() - share * sharing(level, selected);
      int last = -1;
      for (Selected each : selected) {
        long room = room(level, each);
        long more = room == 0 ? 0 : Math.min(left, room - share);
        left -= more;
        last = room == 0 ? last : result.size();
        result.add(new Selected(each.domain(), room == 0 ? 0 : share + more, each.leader(), false));
      }
      if (need.partial()) {
        Selected each = result.get(last);
        result.set(last, new Selected(each.domain(), each.units(), each.leader(), true));
      }
      return result;
    }
  }
}
