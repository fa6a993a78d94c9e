package dev.sluice.scheduling;

import dev.sluice.queue.EquivalenceClass;
import dev.sluice.queue.PendingItem;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.QuotaNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
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
    Set<Integer> ofTree = released.computeIfAbsent(node.root(), root -> new HashSet<>());
    ofTree.add(pair);
    ofTree.add(ANY);
  }

  /**
   * Those whom releases can help, and who are to be looked at now: of each queue the first in its
   * order, unless another one stands in line before it. Others that can be helped sleep on until
   * their turn comes, since what is free may be gone by then.
   */
  public List<Sleeper> wake() {
    List<Sleeper> woken = new ArrayList<>();
    Iterator<Map.Entry<QuotaNode, Set<Integer>>> trees = released.entrySet().iterator();
    while (trees.hasNext()) {
      Map.Entry<QuotaNode, Set<Integer>> tree = trees.next();
      Map<Integer, Set<Sleeper>> ofTree = byLack.getOrDefault(tree.getKey(), Map.of());
      if (tree.getValue().remove(ANY)) {
        wakeAll(ofTree.get(ANY), woken);
      }
      Map<QueueState, Sleeper> first = new LinkedHashMap<>();
      tree.getValue().removeIf(pair -> !anyHelped(ofTree.get(pair), first, woken));
      for (Sleeper sleeper : first.values()) {
        PendingItem head = sleeper.queue.pending().head();
        if (head == null || sleeper.equals.ranksBefore(head.equivalenceClass())) {
          woken.add(sleeper);
        }
      }
      if (tree.getValue().isEmpty()) {
        trees.remove();
      }
    }
    return woken;
  }

  private static void wakeAll(@Nullable Set<Sleeper> sleepers, List<Sleeper> woken) {
    if (sleepers != null) {
      for (Sleeper sleeper : sleepers) {
        if (!sleeper.equals.lacks().isEmpty()) {
          woken.add(sleeper);
        }
      }
      sleepers.clear();
    }
  }

  /** Whether any can be helped; the first of each queue is put into {@code first}. */
  private static boolean anyHelped(
      @Nullable Set<Sleeper> sleepers, Map<QueueState, Sleeper> first, List<Sleeper> woken) {
    if (sleepers == null) {
      return false;
    }
    boolean any = false;
    Iterator<Sleeper> all = sleepers.iterator();
    while (all.hasNext()) {
      Sleeper sleeper = all.next();
      if (sleeper.equals.lacks().isEmpty()) {
        all.remove();
      } else if (helped(sleeper)) {
        if (sleeper.equals.parkedWhy() == null) {
          // Not parked: it is the head that blocks its queue.
          woken.add(sleeper);
          all.remove();
        } else {
          any = true;
          first.merge(
              sleeper.queue, sleeper, (one, two) -> two.equals.ranksBefore(one.equals) ? two : one);
        }
      }
    }
    return any;
  }

  private static boolean helped(Sleeper sleeper) {
    for (EquivalenceClass.Lack lack : sleeper.equals.lacks()) {
      if (sleeper.queue.node().available(lack.pair()) >= lack.amount()) {
        return true;
      }
    }
    return false;
  }

  /** Whether anything was released that may still help somebody. */
  public boolean anyReleased() {
    return !released.isEmpty();
  }

  /** Forgets everything: the trees are about to change shape. */
  public void clear() {
    byLack.clear();
    released.clear();
  }
}
