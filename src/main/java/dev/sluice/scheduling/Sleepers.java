package dev.sluice.scheduling;

import dev.sluice.queue.EquivalenceClass;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.QuotaNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Classes that wait for quota, by the tree and the pair they lack, so that what is released wakes
 * only those whom it can help. A class helped is one of whose lacks at least one is over: until
 * then it can't fit, whatever else happens. Confined to the engine's thread.
 */
public final class Sleepers {

  /** A class that doesn't fit, and its queue. */
  public record Sleeper(QueueState queue, EquivalenceClass equals) {}

  /** Stands for every pair. */
  private static final Integer ANY = -1;

  private final Map<QuotaNode, Map<Integer, Set<Sleeper>>> byLack = new HashMap<>();
  private final Map<QuotaNode, Set<Integer>> released = new HashMap<>();

  /**
   * Remembers that a class sleeps until something of its lacks is released.
   *
   * @param competing whether its pod sets compete for quota: then whatever is released may change
   *     which flavors they take, and any release in the tree wakes it
   */
  public void sleep(Sleeper sleeper, List<EquivalenceClass.Lack> lacks, boolean competing) {
    Map<Integer, Set<Sleeper>> ofTree =
        byLack.computeIfAbsent(sleeper.queue.node().root(), root -> new HashMap<>());
    if (competing) {
      ofTree.computeIfAbsent(ANY, pair -> new LinkedHashSet<>()).add(sleeper);
      return;
    }
    for (EquivalenceClass.Lack lack : lacks) {
      ofTree.computeIfAbsent(lack.pair(), pair -> new LinkedHashSet<>()).add(sleeper);
    }
  }

  /** Remembers that some of a pair was given back somewhere in a tree. */
  public void released(QuotaNode node, int pair) {
    released.computeIfAbsent(node.root(), root -> new HashSet<>()).add(pair);
  }

  /** Those whom the releases since the last call can help; they are forgotten here. */
  public List<Sleeper> wake() {
    List<Sleeper> woken = new ArrayList<>();
    released.forEach(
        (root, pairs) -> {
          Map<Integer, Set<Sleeper>> ofTree = byLack.get(root);
          if (ofTree != null) {
            pairs.forEach(pair -> wake(ofTree.get(pair), woken, false));
            wake(ofTree.get(ANY), woken, true);
          }
        });
    released.clear();
    return woken;
  }

  private static void wake(
      @Nullable Set<Sleeper> sleepers, List<Sleeper> woken, boolean competing) {
    if (sleepers == null) {
      return;
    }
    sleepers.removeIf(
        sleeper -> {
          if (sleeper.equals.lacks().isEmpty()) {
            return true;
          }
          if (competing || helped(sleeper)) {
            woken.add(sleeper);
            return true;
          }
          return false;
        });
  }

  private static boolean helped(Sleeper sleeper) {
    for (EquivalenceClass.Lack lack : sleeper.equals.lacks()) {
      if (sleeper.queue.node().available(lack.pair()) >= lack.amount()) {
        return true;
      }
    }
    return false;
  }

  /** Whether anything was released since the last call of {@link #wake}. */
  public boolean anyReleased() {
    return !released.isEmpty();
  }

  /** Forgets everything: the trees are about to change shape. */
  public void clear() {
    byLack.clear();
    released.clear();
  }
}
