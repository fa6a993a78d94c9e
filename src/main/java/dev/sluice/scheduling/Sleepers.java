package dev.sluice.scheduling;

import dev.sluice.queue.EquivalenceClass;
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

  /** By root of the tree, by pair, by queue: what is free is the same for all of a queue. */
  private final Map<QuotaNode, Map<Integer, Map<QueueState, Set<EquivalenceClass>>>> byLack =
      new HashMap<>();

  private final Map<QuotaNode, Set<Integer>> released = new HashMap<>();

  /**
   * Remembers that a class sleeps until something of its lacks is released.
   *
   * @param anything whether whatever is released may help: its pod sets compete for quota, so that
   *     it may change which flavors they take, or it may preempt others, who came meanwhile
   */
  public void sleep(Sleeper sleeper, List<EquivalenceClass.Lack> lacks, boolean anything) {
    Map<Integer, Map<QueueState, Set<EquivalenceClass>>> ofTree =
        byLack.computeIfAbsent(sleeper.queue.node().root(), root -> new HashMap<>());
    if (anything) {
      add(ofTree, ANY, sleeper);
      return;
    }
    for (EquivalenceClass.Lack lack : lacks) {
      add(ofTree, lack.pair(), sleeper);
    }
  }

  private static void add(
      Map<Integer, Map<QueueState, Set<EquivalenceClass>>> ofTree, Integer pair, Sleeper sleeper) {
    ofTree
        .computeIfAbsent(pair, absent -> new LinkedHashMap<>())
        .computeIfAbsent(sleeper.queue, absent -> new LinkedHashSet<>())
        .add(sleeper.equals);
  }

  /** Remembers that some of a pair was given back somewhere in a tree. */
  public void released(QuotaNode node, int pair) {
    Set<Integer> ofTree = released.computeIfAbsent(node.root(), root -> new HashSet<>());
    ofTree.add(pair);
    ofTree.add(ANY);
  }

  /** Remembers that everybody in a tree for whom any release counts is to be looked at anew. */
  public void flushed(QuotaNode node) {
    released.computeIfAbsent(node.root(), root -> new HashSet<>()).add(ANY);
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
      Map<Integer, Map<QueueState, Set<EquivalenceClass>>> ofTree =
          byLack.getOrDefault(tree.getKey(), Map.of());
      Map<QueueState, EquivalenceClass> before = new HashMap<>();
      if (tree.getValue().remove(ANY)) {
        wakeAll(ofTree.get(ANY), woken, before);
      }
      Map<QueueState, EquivalenceClass> first = new LinkedHashMap<>();
      tree.getValue().removeIf(pair -> !anyHelped(ofTree.get(pair), pair, first, woken));
      first.forEach(
          (queue, equals) -> {
            EquivalenceClass other = before.get(queue);
            boolean itsTurn = other == null || equals.ranksBefore(other);
            if (itsTurn && queue.pending().ranksFirst(equals)) {
              woken.add(new Sleeper(queue, equals));
            }
          });
      if (tree.getValue().isEmpty()) {
        trees.remove();
      }
    }
    return woken;
  }

  /** Wakes everybody; the first of each queue is put into {@code first}. */
  private static void wakeAll(
      @Nullable Map<QueueState, Set<EquivalenceClass>> sleepers,
      List<Sleeper> woken,
      Map<QueueState, EquivalenceClass> first) {
    if (sleepers != null) {
      sleepers.forEach(
          (queue, classes) -> {
            for (EquivalenceClass equals : classes) {
              if (!equals.lacks().isEmpty()) {
                woken.add(new Sleeper(queue, equals));
                if (equals.size() > 0) {
                  first.merge(queue, equals, (one, two) -> two.ranksBefore(one) ? two : one);
                }
              }
            }
          });
      sleepers.clear();
    }
  }

  /** Whether any can be helped; the first of each queue is put into {@code first}. */
  private static boolean anyHelped(
      @Nullable Map<QueueState, Set<EquivalenceClass>> sleepers,
      int pair,
      Map<QueueState, EquivalenceClass> first,
      List<Sleeper> woken) {
    if (sleepers == null) {
      return false;
    }
    boolean any = false;
    Iterator<Map.Entry<QueueState, Set<EquivalenceClass>>> queues = sleepers.entrySet().iterator();
    while (queues.hasNext()) {
      Map.Entry<QueueState, Set<EquivalenceClass>> ofQueue = queues.next();
      QueueState queue = ofQueue.getKey();
      EquivalenceClass eldest = eldestHelped(queue, ofQueue.getValue(), pair, woken);
      if (eldest != null) {
        any = true;
        first.merge(queue, eldest, (one, two) -> two.ranksBefore(one) ? two : one);
      }
      if (ofQueue.getValue().isEmpty()) {
        queues.remove();
      }
    }
    return any;
  }

  /**
   * The first in its queue's order of those whose lack of the pair is over; a head that blocks its
   * queue is woken at once.
   */
  private static @Nullable EquivalenceClass eldestHelped(
      QueueState queue, Set<EquivalenceClass> classes, int pair, List<Sleeper> woken) {
    long free = queue.node().available(pair);
    EquivalenceClass eldest = null;
    Iterator<EquivalenceClass> all = classes.iterator();
    while (all.hasNext()) {
      EquivalenceClass equals = all.next();
      long lacked = lacked(equals, pair);
      if (lacked < 0) {
        // It was woken since; most of those fall asleep again for the same.
        if (equals.isUnused()) {
          all.remove();
        }
      } else if (lacked <= free) {
        if (equals.parkedWhy() == null) {
          woken.add(new Sleeper(queue, equals));
          all.remove();
        } else if (eldest == null || equals.ranksBefore(eldest)) {
          eldest = equals;
        }
      }
    }
    return eldest;
  }

  /** The least of the pair that a class lacked; negative if it doesn't lack it. */
  private static long lacked(EquivalenceClass equals, int pair) {
    List<EquivalenceClass.Lack> lacks = equals.lacks();
    long least = -1;
    for (int i = 0; i < lacks.size(); i++) {
      EquivalenceClass.Lack lack = lacks.get(i);
      if (lack.pair() == pair && (least < 0 || lack.amount() < least)) {
        least = lack.amount();
      }
    }
    return least;
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
