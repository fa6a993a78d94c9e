package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.reference.ReferenceAssigner.Mode;
import dev.sluice.reference.ReferenceAssigner.Result;
import dev.sluice.reference.ReferenceEngine.Waking;
import dev.sluice.reference.ReferenceEntry.EquivalenceClass;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Who was looked at in vain, and when that is forgotten (docs/scheduling-semantics.md#requeueing).
 */
final class ReferenceParking {

  /** The head of a StrictFIFO queue that doesn't fit until some of its lacks is over. */
  private record Block(String uid, Result result) {}

  private final ReferenceQueues world;
  private final Waking waking;
  private final Map<String, Map<EquivalenceClass, Result>> parked = new TreeMap<>();
  private final Map<String, Set<EquivalenceClass>> flushed = new TreeMap<>();

  /** How often what the tree holds had changed before the cycle that parked a class. */
  private final Map<String, Map<EquivalenceClass, Long>> parkedAt = new TreeMap<>();

  private final Map<String, Block> blocked = new TreeMap<>();
  private final Set<String> released = new HashSet<>();

  /** What was known of classes from which this cycle looks at somebody, by Workload. */
  private final Map<String, Result> lookedAt = new HashMap<>();

  /** Who would have fitted in this cycle, had others not taken the quota. */
  private final Set<String> skipped = new HashSet<>();

  ReferenceParking(ReferenceQueues world, Waking waking) {
    this.world = world;
    this.waking = waking;
  }

  /** Quota of this queue was given back: its tree is to be flushed. */
  void released(String queue) {
    released.add(queue);
  }

  boolean flushIsDue() {
    return released.stream().anyMatch(world.queues::containsKey);
  }

  /** Everything is looked at anew. */
  void forgetAll() {
    parked.clear();
    blocked.clear();
    world.workloads.values().forEach(entry -> entry.returned = false);
    world.queues.keySet().forEach(this::walkAgain);
  }

  void forgetBlock(String uid) {
    blocked.values().removeIf(block -> block.uid().equals(uid));
  }

  void forgetBlocksOf(String namespace) {
    blocked
        .values()
        .removeIf(
            block -> {
              ReferenceEntry entry = world.workloads.get(block.uid());
              return entry != null && entry.id.namespace().equals(namespace);
            });
  }

  /** Whether the head of a StrictFIFO queue that doesn't fit isn't looked at in every cycle. */
  boolean blocks() {
    return waking == Waking.HELPED;
  }

  /**
   * Whether the head of a StrictFIFO queue is looked at in every cycle all the same: it keeps quota
   * free, or what comes of it hangs on more than on quota that is given back.
   */
  boolean stands(Result result, String queue) {
    ClusterQueueSpec spec = world.queues.get(queue);
    return result.competing()
        || (result.mode() != Mode.NO_FIT
            && spec != null
            && spec.preemption().reclaimWithinCohort() != ReclaimWithinCohort.ANY);
  }

  boolean isBlocked(String queue) {
    return blocked.containsKey(queue);
  }

  /** Whether what was found in vain for the like of this one hung on quota taken by itself. */
  boolean competed(ReferenceEntry entry, String queue) {
    Result before = parked.getOrDefault(queue, Map.of()).get(entry.equivalenceClass());
    Block block = blocked.get(queue);
    return (before != null && before.competing()) || (block != null && block.result().competing());
  }

  boolean isParked(ReferenceEntry entry, String queue, ReferenceTree tree) {
    EquivalenceClass equals = entry.equivalenceClass();
    Result result = parked.getOrDefault(queue, Map.of()).get(equals);
    return result != null
        && !(flushed.getOrDefault(queue, Set.of()).contains(equals) && helped(queue, result, tree));
  }

  void unpark(ReferenceEntry entry, String queue) {
    Result result = parked.getOrDefault(queue, new HashMap<>()).remove(entry.equivalenceClass());
    if (result != null) {
      lookedAt.put(entry.id.uid(), result);
    }
    flushed.getOrDefault(queue, new HashSet<>()).remove(entry.equivalenceClass());
  }

  /** A cycle begins. */
  void cycleBegins() {
    lookedAt.clear();
    skipped.clear();
  }

  /** Others took the quota, and it stays in line. */
  void skipped(ReferenceEntry entry) {
    skipped.add(entry.id.uid());
  }

  /**
   * One of a class that was looked at in vain before fits now, whether it gets the quota or may not
   * take it. What the others lack is still known: they are looked at again as soon as there is
   * enough of it.
   */
  void fits(ReferenceEntry entry, String queue) {
    Result before = lookedAt.get(entry.id.uid());
    if (before != null && waking == Waking.HELPED) {
      parked.computeIfAbsent(queue, any -> new HashMap<>()).put(entry.equivalenceClass(), before);
      flushed.computeIfAbsent(queue, any -> new HashSet<>()).add(entry.equivalenceClass());
    }
  }

  /**
   * One of a class that was looked at in vain before was looked at in this cycle, but others took
   * the quota. What it lacks is still known, as if nobody had looked.
   *
   * @return whether it is parked now
   */
  boolean parksAgain(ReferenceEntry entry, String queue) {
    boolean remembered =
        waking == Waking.HELPED
            && lookedAt.containsKey(entry.id.uid())
            && skipped.contains(entry.id.uid());
    if (remembered) {
      fits(entry, queue);
    }
    return remembered;
  }

  /** It was looked at in vain. */
  void park(
      ReferenceEntry entry,
      String queue,
      QueueingStrategy strategy,
      Result result,
      long changesBefore) {
    if (ReferenceQueues.pauses(strategy)) {
      world.pause(entry, Objects.requireNonNull(world.queues.get(queue)));
    } else if (strategy == QueueingStrategy.BEST_EFFORT_FIFO) {
      parked.computeIfAbsent(queue, any -> new HashMap<>()).put(entry.equivalenceClass(), result);
      parkedAt
          .computeIfAbsent(queue, any -> new HashMap<>())
          .put(entry.equivalenceClass(), changesBefore);
    } else if (blocks() && !stands(result, queue)) {
      blocked.put(queue, new Block(entry.id.uid(), result));
    }
  }

  /**
   * Who waits for a cheaper flavor is looked at when that was expected, and when anybody of the
   * class has waited for as long as it may.
   */
  void endWaitsForCheaper() {
    parked.forEach(
        (name, classes) -> {
          ClusterQueueSpec queue = world.queues.get(name);
          classes
              .entrySet()
              .removeIf(
                  each ->
                      each.getValue().again().isPresent()
                          && queue != null
                          && world.waitingIn(name).stream()
                              .filter(entry -> entry.equivalenceClass().equals(each.getKey()))
                              .anyMatch(
                                  entry ->
                                      isOver(each.getValue().again())
                                          || isOver(
                                              ReferenceCosts.waitsUntil(queue, entry.workload()))));
        });
  }

  /**
   * Whether one waits for a cheaper flavor, and isn't looked at yet whatever is expected by now: a
   * run that takes longer than its bound is expected to end later and later.
   */
  boolean waitsForCheaper(ReferenceEntry entry, String queue) {
    Result result = parked.getOrDefault(queue, Map.of()).get(entry.equivalenceClass());
    return result != null && result.again().isPresent();
  }

  /** A run ends at another time: who waits for a cheaper flavor in its tree is looked at. */
  void endWaitsIn(Collection<String> queues) {
    for (String queue : queues) {
      parked
          .getOrDefault(queue, new HashMap<>())
          .values()
          .removeIf(result -> result.again().isPresent());
    }
  }

  /** Whoever takes the cheaper flavor, or gives it back, ends the wait for it. */
  void endWaitsForWhatWasTaken(ReferenceTree tree) {
    parked.forEach(
        (queue, classes) ->
            classes
                .entrySet()
                .removeIf(
                    each ->
                        each.getValue().again().isPresent()
                            && world.queues.containsKey(queue)
                            && world.changesInTree(queue, tree)
                                != parkedAt
                                    .getOrDefault(queue, Map.of())
                                    .getOrDefault(each.getKey(), 0L)));
  }

  private boolean isOver(Optional<Instant> wait) {
    return wait.filter(end -> !end.isAfter(world.now)).isPresent();
  }

  /** That a class doesn't fit is remembered as long as somebody belongs to it. */
  void forgetThePassed() {
    parked.forEach(
        (queue, classes) -> {
          Set<EquivalenceClass> inhabited = new HashSet<>();
          for (ReferenceEntry entry : world.waitingIn(queue)) {
            inhabited.add(entry.equivalenceClass());
          }
          classes.keySet().retainAll(inhabited);
        });
    blocked
        .entrySet()
        .removeIf(
            each ->
                world.waitingIn(each.getKey()).stream()
                    .filter(entry -> !world.comesBack(entry))
                    .findFirst()
                    .filter(head -> !head.id.uid().equals(each.getValue().uid()))
                    .isPresent());
  }

  /** The flush: whatever may fit after quota was given back is looked at anew. */
  void wake(ReferenceTree tree) {
    Set<String> affected = new HashSet<>();
    released.stream()
        .filter(world.queues::containsKey)
        .forEach(name -> affected.addAll(tree.tree(name)));
    if (!affected.isEmpty()) {
      world.queues.keySet().stream()
          .filter(name -> world.reaches(name, tree))
          .forEach(affected::add);
    }
    released.clear();
    holdAgain(tree);
    world.workloads.values().stream()
        .filter(entry -> entry.waits() && entry.aside && !world.mustStayAside(entry))
        .filter(entry -> world.queueOf(entry).filter(affected::contains).isPresent())
        .filter(entry -> !world.reservations.heldBack(entry, tree))
        .forEach(
            entry -> {
              entry.aside = false;
              entry.returned = world.reservations.any();
            });
    for (String queue : affected) {
      letWalkAgain(queue);
      Map<EquivalenceClass, Result> classes = parked.getOrDefault(queue, new HashMap<>());
      classes
          .values()
          .removeIf(
              result -> waking == Waking.ALL || (result.competing() && !result.lacks().isEmpty()));
      flushed.computeIfAbsent(queue, any -> new HashSet<>()).addAll(classes.keySet());
      Block block = blocked.get(queue);
      if (block != null && helped(queue, block.result(), tree)) {
        blocked.remove(queue);
      }
    }
    forgetThePassed();
  }

  /**
   * Holds those again that a release brought back in line, and that may not start any more: before
   * each cycle, whether it finds anybody to look at or not.
   */
  void holdAgain(ReferenceTree tree) {
    world.workloads.values().stream()
        .filter(entry -> entry.returned)
        .forEach(
            entry -> {
              entry.returned = entry.waits() && !entry.aside && world.reservations.any();
              if (isHeldAgain(entry, tree)) {
                entry.aside = true;
                entry.returned = false;
              }
            });
  }

  /**
   * Whether the next cycle holds one for a reservation again that a release brought back in line,
   * so that it blocks nobody (docs/reservations.md#who-is-looked-at-again).
   */
  boolean isHeldAgain(ReferenceEntry entry, ReferenceTree tree) {
    return entry.returned
        && entry.waits()
        && world.reservations.any()
        && world.reservations.heldBack(entry, tree);
  }

  private void letWalkAgain(String queue) {
    if (waking == Waking.ALL) {
      walkAgain(queue);
    }
  }

  private void walkAgain(String queue) {
    world.waitingIn(queue).stream()
        .filter(entry -> entry.progress.isEmpty())
        .forEach(
            entry -> {
              entry.walked = 0;
              entry.walkedInVain = Optional.empty();
            });
  }

  private boolean helped(String queue, Result result, ReferenceTree tree) {
    return waking == Waking.ALL
        || (result.competing() && !result.lacks().isEmpty())
        || result.lacks().stream()
            .anyMatch(lack -> tree.available(queue, lack.pair()) >= lack.amount());
  }

  /** Who is known to be looked at in vain, to see whether that changes. */
  String state() {
    StringBuilder text = new StringBuilder();
    parked.forEach(
        (queue, classes) -> text.append(queue).append(new HashSet<>(classes.keySet()).hashCode()));
    // whose wait for a cheaper flavor a cycle ended is looked at once more
    parked.forEach(
        (queue, classes) ->
            classes.forEach(
                (each, result) -> {
                  if (result.again().isPresent()) {
                    text.append(parkedAt.getOrDefault(queue, Map.of()).get(each)).append(' ');
                  }
                }));
    return text.append(blocked.keySet()).toString();
  }
}
