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

/**
 * Classes that wait for quota, by the tree and the pair they lack, so that what is released wakes
 * only those whom it can help. A class helped is one of whose lacks at least one is over: until
 * then it can't fit, whatever else happens. Confined to the engine's thread.
 */
public final class Sleepers {

  /** A class that doesn't fit, and its queue. */
  public record Sleeper(QueueState queue, EquivalenceClass equals) {}

  private final Map<QuotaNode, Map<Integer, Set<Sleeper>>> byLack = new HashMap<>();
  private final Map<QuotaNode, Set<Integer>> released = new HashMap<>();

  /** Remembers that a class sleeps until something of its lacks is released. */
  public void sleep(Sleeper sleeper, List<EquivalenceClass.Lack> lacks) {
    Map<Integer, Set<Sleeper>> ofTree =
        byLack.computeIfAbsent(sleeper.queue.node().root(), root -> new HashMap<>());
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
            pairs.forEach(pair -> wake(ofTree.getOrDefault(pair, Set.of()), woken));
          }
        });
    released.clear();
    return woken;
  }

  private static void wake(Set<Sleeper> sleepers, List<Sleeper> woken) {
    sleepers.removeIf(
        sleeper -> {
          if (sleeper.equals.lacks().isEmpty()) {
            return true;
          }
          if (helped(sleeper)) {
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
