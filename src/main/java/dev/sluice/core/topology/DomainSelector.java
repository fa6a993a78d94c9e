package dev.sluice.core.topology;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Selects domains of one level for units, which are slices or what is placed together below them
 * (docs/topology.md#which-domains).
 */
final class DomainSelector {

  /**
   * Units in a domain.
   *
   * @param leader whether the leader is there, too
   */
  record Selected(int domain, long units, boolean leader) {}

  /** Up to so many different numbers of units, domains are sorted in linear time. */
  private static final int MOST_BUCKETS = 1 << 12;

  private final Capacity capacity;
  private final Levels levels;

  /** Whether domains with least capacity are filled first. */
  private final boolean leastFree;

  DomainSelector(Capacity capacity, Levels levels, boolean leastFree) {
    this.capacity = capacity;
    this.levels = levels;
    this.leastFree = leastFree;
  }

  /**
   * The smallest domain that has room for everything; null if none has.
   *
   * @param candidates numbers of domains; negative ones are left out
   */
  @Nullable Selected single(int level, int[] candidates, long needed, boolean leader) {
    int best = -1;
    for (int domain : candidates) {
      if (domain >= 0
          && (!leader || capacity.leads[level][domain])
          && capacity.units(levels, level, domain, leader) >= needed
          && (best < 0 || isSmaller(level, domain, best, leader))) {
        best = domain;
      }
    }
    return best < 0 ? null : new Selected(best, needed, leader);
  }

  private boolean isSmaller(int level, int one, int two, boolean leader) {
    int order = Long.compare(score(level, two), score(level, one));
    if (order == 0) {
      order =
          Long.compare(
              capacity.units(levels, level, one, leader),
              capacity.units(levels, level, two, leader));
    }
    return (order == 0 ? tie(level, one, two, leader) : order) < 0;
  }

  /** Fewer pods first: they leave less unused. */
  private int tie(int level, int one, int two, boolean leader) {
    long[] pods = leader ? capacity.podsBesideLeader[level] : capacity.pods[level];
    int order = Long.compare(pods[one], pods[two]);
    return order == 0 ? Integer.compare(one, two) : order;
  }

  private long score(int level, int domain) {
    return capacity.scores.length == 0 ? 0 : capacity.scores[level][domain];
  }

  private int order(int level, int one, int two, boolean leader) {
    int order = Long.compare(score(level, two), score(level, one));
    if (order == 0) {
      order =
          Long.compare(
              capacity.units(levels, level, two, leader),
              capacity.units(levels, level, one, leader));
      order = leastFree ? -order : order;
    }
    return order == 0 ? tie(level, one, two, leader) : order;
  }

  /**
   * Domains that together have room for everything: the leader's first, then from the largest on,
   * or from the smallest; the last one is the smallest that has room for the rest. Null if there is
   * not enough room.
   *
   * @param domains numbers of domains
   */
  @Nullable List<Selected> several(int level, int[] domains, long needed, boolean leader) {
    Selected one = single(level, domains, needed, leader);
    if (one != null) {
      return List.of(one);
    }
    long total = 0;
    for (int domain : domains) {
      total += capacity.units(levels, level, domain, false);
    }
    int[] candidates = domains.clone();
    List<Selected> selected = new ArrayList<>();
    long rest = needed;
    if (leader) {
      int place = leaderPlace(level, candidates, total - needed);
      if (place < 0) {
        return null;
      }
      int host = candidates[place];
      long units = capacity.units(levels, level, host, true);
      selected.add(new Selected(host, units, true));
      rest -= units;
      candidates[place] = -1;
    } else if (total < needed) {
      return null;
    }
    return addRest(level, candidates, rest, selected);
  }

  /**
   * The place of the leader: the first domain in the order in which the loss that the leader causes
   * still leaves enough room; -1 if there is none.
   */
  private int leaderPlace(int level, int[] candidates, long spare) {
    int best = -1;
    for (int i = 0; i < candidates.length; i++) {
      int domain = candidates[i];
      if (capacity.leads[level][domain]
          && capacity.units(levels, level, domain, false)
                  - capacity.units(levels, level, domain, true)
              <= spare
          && (best < 0 || order(level, domain, candidates[best], true) < 0)) {
        best = i;
      }
    }
    return best;
  }

  private @Nullable List<Selected> addRest(
      int level, int[] candidates, long needed, List<Selected> selected) {
    int[] order = sorted(level, candidates);
    long rest = needed;
    long largest = Long.MAX_VALUE;
    for (int next = 0; rest > 0; next++) {
      if (next == order.length) {
        return null;
      }
      if (largest >= rest) {
        int[] left = Arrays.copyOfRange(order, next, order.length);
        Selected last = single(level, left, rest, false);
        if (last != null) {
          selected.add(last);
          return selected;
        }
        largest = largest(level, left);
      }
      long units = capacity.units(levels, level, order[next], false);
      selected.add(new Selected(order[next], units, false));
      rest -= units;
    }
    return selected;
  }

  private long largest(int level, int[] domains) {
    long largest = 0;
    for (int domain : domains) {
      largest = Math.max(largest, capacity.units(levels, level, domain, false));
    }
    return largest;
  }

  /** The domains that have room for anything, in order. */
  private int[] sorted(int level, int[] candidates) {
    int[] open = new int[candidates.length];
    int size = 0;
    long largest = 0;
    boolean ascending = true;
    for (int domain : candidates) {
      long units = domain < 0 ? 0 : capacity.units(levels, level, domain, false);
      if (units > 0) {
        ascending &= size == 0 || open[size - 1] < domain;
        open[size++] = domain;
        largest = Math.max(largest, units);
      }
    }
    open = Arrays.copyOf(open, size);
    boolean bySizeOnly = capacity.scores.length == 0 && levels.units()[level] == 1;
    if (bySizeOnly && ascending && largest < MOST_BUCKETS) {
      return inBuckets(level, open, (int) largest);
    }
    Integer[] boxed = Arrays.stream(open).boxed().toArray(Integer[]::new);
    Arrays.sort(boxed, (one, two) -> order(level, one, two, false));
    return Arrays.stream(boxed).mapToInt(Integer::intValue).toArray();
  }

  /** Sorts domains by units in linear time; equals stay in the order of their numbers. */
  private int[] inBuckets(int level, int[] domains, int largest) {
    int[] starts = new int[largest + 2];
    for (int domain : domains) {
      starts[bucket(level, domain, largest) + 1]++;
    }
    for (int i = 1; i < starts.length; i++) {
      starts[i] += starts[i - 1];
    }
    int[] sorted = new int[domains.length];
    for (int domain : domains) {
      sorted[starts[bucket(level, domain, largest)]++] = domain;
    }
    return sorted;
  }

  private int bucket(int level, int domain, int largest) {
    int units = (int) capacity.units(levels, level, domain, false);
    return leastFree ? units : largest - units;
  }
}
