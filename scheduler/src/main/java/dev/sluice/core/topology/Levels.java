package dev.sluice.core.topology;

import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologySpec;
import org.jspecify.annotations.Nullable;

/**
 * What a request means in a topology, by numbers of levels; 0 is the highest level.
 *
 * @param level the level at which a single domain is looked for first
 * @param sliceLevel the level whose domains hold whole slices
 * @param units the number of pods that are placed together, by level: the size of a slice down to
 *     the slices' level, then the size of the next inner layer down to its level, then 1
 * @param rounds whether the pods of a domain are rounded down to whole units, by level
 */
record Levels(int level, int sliceLevel, int[] units, boolean[] rounds) {

  /** The levels of a request; null if the topology doesn't have them in the right order. */
  static @Nullable Levels of(TopologyRequest request, TopologySpec spec) {
    int last = spec.levels().size() - 1;
    int level =
        switch (request.mode()) {
          case REQUIRED, PREFERRED -> spec.levels().indexOf(request.level());
          case SLICES -> 0;
          case NONE, UNCONSTRAINED -> last;
        };
    int[] units = new int[last + 1];
    boolean[] rounds = new boolean[last + 1];
    int next = 0;
    int before = -1;
    int sliceLevel = last;
    for (TopologyRequest.Slice slice : request.slices()) {
      int at = spec.levels().indexOf(slice.level());
      boolean outermost = next == 0 && before < 0;
      if (at <= before || slice.size() < 1) {
        return null;
      }
      if (outermost) {
        sliceLevel = at;
      } else if (units[before] % slice.size() != 0) {
        return null;
      }
      while (next <= at) {
        units[next++] = slice.size();
      }
      rounds[at] = !outermost;
      before = at;
    }
    while (next <= last) {
      units[next++] = 1;
    }
    return level < 0 || sliceLevel < level ? null : new Levels(level, sliceLevel, units, rounds);
  }

  /** The number of pods of a slice. */
  int sliceSize() {
    return units[sliceLevel];
  }
}
