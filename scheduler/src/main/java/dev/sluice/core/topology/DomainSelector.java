package dev.sluice.core.topology;

import dev.sluice.core.topology.Capacity.Levels;
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
   * Units to be placed together.
   *
   * @param units the number of units
   * @param leader whether the leader is to be placed with them
   * @param partial whether the last unit is a partial slice
   */
  record Need(long units, boolean leader, boolean partial) {}

  /**
   * Units in a domain.
   *
   * @param units the number of units, a partial slice included
   * @param leader whether the leader is there, too
   * @param partial whether one of the units is the partial slice
   */
  record Selected(int domain, long units, boolean leader, boolean partial) {}

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

  /** The units that fit into a domain, the leader and the partial slice of a need included. */
  private long room(int level, int domain, boolean leader, boolean partial) {
    return partial
        ? capacity.unitsWithPartial(levels, level, domain)
        : capacity.units(levels, level, domain, leader);
  }

  private boolean suffices(int level, int domain, Need need) {
    return (!need.leader() || capacity.leads[level][domain])
        && room(level, domain, need.leader(), isSpared(need)) >= need.units();
  }

  /** A partial slice takes the room of a whole one where a leader is placed with it. */
  private static boolean isSpared(Need need) {
    return need.partial() && !need.leader();
  }

  /**
   * The smallest domain that has room for everything; null if none has.
   *
   * @param candidates numbers of domains; negative ones are left out
   */
  @Nullable Selected single(int level, int[] candidates, Need need) {
    int best = -1;
    for (int domain : candidates) {
      if (domain >= 0
          && suffices(level, domain, need)
          && (best < 0 || isSmaller(level, domain, best, need))) {
        best = domain;
      }
    }
    return best < 0 ? null : new Selected(best, need.units(), need.leader(), need.partial());
  }

  /** The domains that have room for everything, the smallest first. */
  List<Integer> sufficient(int level, int[] candidates, Need need) {
    List<Integer> sufficient = new ArrayList<>();
    for (int domain : candidates) {
      if (suffices(level, domain, need)) {
        sufficient.add(domain);
      }
    }
    sufficient.sort((one, two) -> isSmaller(level, one, two, need) ? -1 : one.equals(two) ? 0 : 1);
    return sufficient;
  }

  private boolean isSmaller(int level, int one, int two, Need need) {
    int order = Long.compare(score(level, two), score(level, one));
    if (order == 0) {
      order =
          Long.compare(
              room(level, one, need.leader(), isSpared(need)),
              room(level, two, need.leader(), isSpared(need)));
    }
    return (order == 0 ? tie(level, one, two, need.leader()) : order) < 0;
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

  private int order(int level, int one, int two, boolean leader, boolean partial) {
    int order = Long.compare(score(level, two), score(level, one));
    if (order == 0) {
      order = Long.compare(room(level, two, leader, partial), room(level, one, leader, partial));
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
  @Nullable List<Selected> several(int level, int[] domains, Need need) {
    Selected one = single(level, domains, need);
    return one != null ? List.of(one) : among(level, domains, need, true);
  }

  /**
   * The first domains in order that together have room for everything: one if that suffices, and
   * otherwise the leader's first. A partial slice counts as a whole one. Null if there is not
   * enough room.
   *
   * @param domains numbers of domains
   */
  @Nullable List<Selected> largest(int level, int[] domains, Need need) {
    Need whole = new Need(need.units(), need.leader(), false);
    Selected one = single(level, domains, whole);
    return one != null ? List.of(one) : among(level, domains, whole, false);
  }

  private @Nullable List<Selected> among(
      int level, int[] domains, Need need, boolean smallestLast) {
    long total = 0;
    boolean spare = false;
    for (int domain : domains) {
      total += capacity.units(levels, level, domain, false);
      spare |= isSpared(need) && capacity.hasSpare(level, domain);
    }
    int[] candidates = domains.clone();
    List<Selected> selected = new ArrayList<>();
    long rest = need.units();
    if (need.leader()) {
      int place = leaderPlace(level, candidates, total - need.units());
      if (place < 0) {
        return null;
      }
      int host = candidates[place];
      long units = capacity.units(levels, level, host, true);
      selected.add(new Selected(host, units, true, false));
      rest -= units;
      candidates[place] = -1;
    } else if (total + (spare ? 1 : 0) < need.units()) {
      return null;
    }
    return addRest(
        level, candidates, new Need(rest, need.leader(), need.partial()), selected, smallestLast);
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
          && (best < 0 || order(level, domain, candidates[best], true, false) < 0)) {
        best = i;
      }
    }
    return best;
  }

  /**
   * Adds domains until nothing is left to place. A domain that is taken as a whole takes the
   * partial slice, too, if that fits beside its whole slices.
   */
  private @Nullable List<Selected> addRest(
      int level, int[] candidates, Need need, List<Selected> selected, boolean smallestLast) {
    boolean spared = isSpared(need);
    boolean partial = need.partial();
    int[] order = sorted(level, candidates, spared);
    long rest = need.units();
    long largest = Long.MAX_VALUE;
    for (int next = 0; rest > 0; next++) {
      if (next == order.length) {
        return null;
      }
      if (smallestLast && largest >= rest) {
        int[] left = Arrays.copyOfRange(order, next, order.length);
        Selected last = single(level, left, new Need(rest, false, spared && partial));
        if (last != null) {
          selected.add(new Selected(last.domain(), last.units(), false, partial));
          return selected;
        }
        largest = mostRoom(level, left, spared && partial);
      }
      boolean takes = spared && partial && capacity.hasSpare(level, order[next]);
      long units = room(level, order[next], false, takes);
      if (units == 0) {
        // The domain had room for the partial slice alone, which another domain took: its children
        // must not be candidates at the levels below.
        continue;
      }
      selected.add(new Selected(order[next], units, false, takes));
      partial &= !takes;
      rest -= units;
    }
    return selected;
  }

  private long mostRoom(int level, int[] domains, boolean partial) {
    long largest = 0;
    for (int domain : domains) {
      largest = Math.max(largest, room(level, domain, false, partial));
    }
    return largest;
  }

  /** The domains that have room for anything, in order. */
  private int[] sorted(int level, int[] candidates, boolean partial) {
    int[] open = new int[candidates.length];
    int size = 0;
    long largest = 0;
    boolean ascending = true;
    for (int domain : candidates) {
      long units = domain < 0 ? 0 : room(level, domain, false, partial);
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
    Arrays.sort(boxed, (one, two) -> order(level, one, two, false, partial));
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
