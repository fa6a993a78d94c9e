package dev.sluice.core.topology;

import dev.sluice.core.topology.DomainSelector.Need;
import dev.sluice.core.topology.DomainSelector.Selected;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Selects sibling domains among which units are spread evenly
 * (docs/topology.md#balanced-placement).
 */
final class BalancedSelector {

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
