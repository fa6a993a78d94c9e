package dev.sluice.core.waiting;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.Instants;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
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
 * looked at when that was expected to be free, and when the first of them has waited for as long as
 * it may. All follows from why a class is inadmissible, so it is no part of an exported state.
 */
final class CheaperWaits {

  private final Map<EquivalenceClass, String> queues = new LinkedHashMap<>();

  /** Records why a class is inadmissible. */
  void inadmissible(ClusterQueueCache queue, EquivalenceClass equivalenceClass) {
    if (queue.spec().rules().cheapest().isEmpty()) {
      return;
    }
    if (lookedAtAgain(equivalenceClass) == null) {
      queues.remove(equivalenceClass);
    } else {
      queues.put(equivalenceClass, queue.name());
    }
  }

  /** Whether a class of a queue is to be looked at. */
  interface Queues {
    @Nullable ClusterQueueCache of(String name);
  }

  /** Removes the classes that are due, in the order of their queues and ages. */
  List<InadmissibleIndex.InadmissibleQueue> due(Instant now, Queues known) {
    if (queues.isEmpty()) {
      return List.of();
    }
    List<InadmissibleIndex.InadmissibleQueue> due = new ArrayList<>();
    queues
        .entrySet()
        .removeIf(
            each -> {
              EquivalenceClass equivalenceClass = each.getKey();
              ClusterQueueCache queue = known.of(each.getValue());
              Instant again = lookedAtAgain(equivalenceClass);
              if (queue == null || again == null || equivalenceClass.isUnused()) {
                return true;
              }
              boolean isDue =
                  equivalenceClass.size() > 0
                      && (!again.isAfter(now) || hasWaited(equivalenceClass, queue, now));
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
    Duration delay =
        queue
            .spec()
            .rules()
            .cheapest()
            .map(rules -> rules.delay(equivalenceClass.shape().cost()))
            .orElse(Duration.ZERO);
    return PreemptionProtection.after(equivalenceClass.head().queuedAtMicros(), delay)
        <= Instants.micros(now);
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
