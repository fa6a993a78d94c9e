package dev.sluice.core.waiting;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.Instants;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.quota.QuotaNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Classes that wait for a cheaper flavor (docs/prices.md#waiting-for-a-cheaper-flavor): they are
 * looked at when that was expected to be free, when the first of them has waited for as long as it
 * may, when quota of their tree was taken or released, because whoever takes the cheaper flavor
 * ends the wait for it, and when a run in their tree is expected to end at another time. All
 * follows from why a class is inadmissible, so it is no part of an exported state.
 */
final class CheaperWaits {

  private final Map<EquivalenceClass, Wait> waits = new LinkedHashMap<>();

  /** In which queue a class waits, and the cycle that found so. */
  private record Wait(String queue, long cycle) {}

  /** Records why a class is inadmissible, and the cycle that found so. */
  void inadmissible(ClusterQueueCache queue, EquivalenceClass equivalenceClass, long cycle) {
    if (queue.spec().rules().cheapest().isEmpty()) {
      return;
    }
    if (lookedAtAgain(equivalenceClass) == null) {
      waits.remove(equivalenceClass);
    } else {
      waits.put(equivalenceClass, new Wait(queue.name(), cycle));
    }
  }

  /** Whether a class of a queue is to be looked at. */
  interface Queues {
    @Nullable ClusterQueueCache of(String name);
  }

  /** Whether quota in the tree of a queue was taken or released in or after a cycle. */
  interface Changes {
    boolean since(ClusterQueueCache queue, long cycle);
  }

  /** Removes the classes whose time has come, in the order of their queues and ages. */
  List<InadmissibleIndex.InadmissibleQueue> due(Instant now, Queues known) {
    return take(
        known,
        (equivalenceClass, queue, cycle) -> {
          Instant again = lookedAtAgain(equivalenceClass);
          return again != null && (!again.isAfter(now) || hasWaited(equivalenceClass, queue, now));
        });
  }

  /** The first time after now at which any class is due; {@link Instant#MAX} if there is none. */
  Instant next(Instant now, Queues known) {
    Instant next = Instant.MAX;
    for (Map.Entry<EquivalenceClass, Wait> each : waits.entrySet()) {
      EquivalenceClass equivalenceClass = each.getKey();
      ClusterQueueCache queue = known.of(each.getValue().queue());
      Instant again = lookedAtAgain(equivalenceClass);
      if (queue != null && again != null && equivalenceClass.size() > 0) {
        for (Instant at : List.of(again, Instants.ofMicros(hasWaitedAt(equivalenceClass, queue)))) {
          next = at.isAfter(now) && at.isBefore(next) ? at : next;
        }
      }
    }
    return next;
  }

  /** Removes the classes in whose trees quota was taken or released, in the same order. */
  List<InadmissibleIndex.InadmissibleQueue> changed(Queues known, Changes changes) {
    return take(known, (equivalenceClass, queue, cycle) -> changes.since(queue, cycle));
  }

  /** Removes the classes that wait in the tree with this root, in the same order. */
  List<InadmissibleIndex.InadmissibleQueue> in(QuotaNode rootNode, Queues known) {
    return take(known, (equivalenceClass, queue, cycle) -> queue.node().root() == rootNode);
  }

  /** Whether {@link #changed} would return any. */
  boolean anyChanged(Queues known, Changes changes) {
    return waits.entrySet().stream()
        .anyMatch(
            each -> {
              ClusterQueueCache queue = known.of(each.getValue().queue());
              return queue != null
                  && each.getKey().size() > 0
                  && changes.since(queue, each.getValue().cycle());
            });
  }

  private interface Condition {
    boolean holds(EquivalenceClass equivalenceClass, ClusterQueueCache queue, long cycle);
  }

  private List<InadmissibleIndex.InadmissibleQueue> take(Queues known, Condition condition) {
    if (waits.isEmpty()) {
      return List.of();
    }
    List<InadmissibleIndex.InadmissibleQueue> due = new ArrayList<>();
    waits
        .entrySet()
        .removeIf(
            each -> {
              EquivalenceClass equivalenceClass = each.getKey();
              ClusterQueueCache queue = known.of(each.getValue().queue());
              if (queue == null
                  || lookedAtAgain(equivalenceClass) == null
                  || equivalenceClass.isUnused()) {
                return true;
              }
              boolean isDue =
                  equivalenceClass.size() > 0
                      && condition.holds(equivalenceClass, queue, each.getValue().cycle());
              if (isDue) {
                due.add(new InadmissibleIndex.InadmissibleQueue(queue, equivalenceClass));
              }
              return isDue;
            });
    due.sort(
        Comparator.comparing((InadmissibleIndex.InadmissibleQueue each) -> each.queue().name())
            .thenComparing(each -> each.equivalenceClass().head().id().uid()));
    return due;
  }

  /** Whether the oldest member has waited for as long as it may: it may have come after others. */
  private static boolean hasWaited(
      EquivalenceClass equivalenceClass, ClusterQueueCache queue, Instant now) {
    return hasWaitedAt(equivalenceClass, queue) <= Instants.micros(now);
  }

  private static long hasWaitedAt(EquivalenceClass equivalenceClass, ClusterQueueCache queue) {
    Duration delay =
        queue
            .spec()
            .rules()
            .cheapest()
            .map(rules -> rules.delay(equivalenceClass.shape().cost()))
            .orElse(Duration.ZERO);
    return PreemptionProtection.after(equivalenceClass.head().queuedAtMicros(), delay);
  }

  /** When a class is looked at again; null if it doesn't wait for a cheaper flavor. */
  private static @Nullable Instant lookedAtAgain(EquivalenceClass equivalenceClass) {
    Explanation explanation = equivalenceClass.explanation();
    Instant first = null;
    if (explanation != null) {
      for (FlavorAttempt attempt : explanation.attempts()) {
        for (FlavorRejection rejection : attempt.flavorRejections()) {
          if (rejection instanceof FlavorRejection.WaitsForCheaper waits
              && (first == null || waits.lookedAtAgain().isBefore(first))) {
            first = waits.lookedAtAgain();
          }
        }
      }
    }
    return first;
  }
}
