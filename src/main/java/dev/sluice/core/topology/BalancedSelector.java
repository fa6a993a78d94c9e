package dev.sluice.core.topology;

import dev.sluice.core.topology.DomainSelector.Selected;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Selects sibling domains among which units are spread evenly
 * (docs/topology.md#balanced-placement).
 */
final class BalancedSelector {

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
   * The domains of a level that have one parent and among which the smallest share is largest; of
   * several such groups, the fewest domains. Null if no group has room for everything, or not for a
   * unit in each of its domains.
   *
   * @param level the level of the domains
   */
  @Nullable List<Selected> select(int level, long needed, boolean leader) {
    List<Selected> best = null;
    long bestShare = 0;
    int parents = level == 0 ? 1 : tree.size(level - 1);
    for (int parent = 0; parent < parents; parent++) {
      List<Selected> selected = selector.several(level, siblings(level, parent), needed, leader);
      if (selected == null || selected.isEmpty()) {
        continue;
      }
      long share = share(level, selected, needed);
      if (share > bestShare
          || (best != null && share == bestShare && selected.size() < best.size())) {
        best = selected;
        bestShare = share;
      }
    }
    return best == null ? null : spread(level, best, needed, bestShare);
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

  /** The units that each domain gets at least. */
  private long share(int level, List<Selected> selected, long needed) {
    long share = needed / selected.size();
    for (Selected each : selected) {
      share = Math.min(share, room(level, each));
    }
    return share;
  }

  private long room(int level, Selected selected) {
    return capacity.units(levels, level, selected.domain(), selected.leader());
  }

  /** Each domain gets its share; what is left goes to the first ones that have room. */
  private List<Selected> spread(int level, List<Selected> selected, long needed, long share) {
    List<Selected> result = new ArrayList<>(selected.size());
    long left = needed - share * selected.size();
    for (Selected each : selected) {
      long more = Math.min(left, room(level, each) - share);
      left -= more;
      result.add(new Selected(each.domain(), share + more, each.leader()));
    }
    return result;
  }
}
