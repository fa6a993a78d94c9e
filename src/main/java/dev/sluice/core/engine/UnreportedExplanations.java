package dev.sluice.core.engine;

import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.QueuedWorkload;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Workloads of which people may have to be told something new. What is told is found out only when
 * somebody has time to tell it, so that what changed in between is never told.
 */
final class UnreportedExplanations {

  private final Function<WorkloadEntry, @Nullable Explanation> explain;
  private final Set<WorkloadEntry> waiting = new LinkedHashSet<>();

  UnreportedExplanations(Function<WorkloadEntry, @Nullable Explanation> explain) {
    this.explain = explain;
  }

  void add(WorkloadEntry entry) {
    waiting.add(entry);
  }

  /** A Workload joined its class: if that is parked already, it shares its fate from now on. */
  void add(QueuedWorkload item, WorkloadEntry entry) {
    if (item.equivalenceClass().explanation() != null) {
      waiting.add(entry);
    }
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Up to {@code max} explanations that differ from what was told last. */
  List<Decision.Explain> take(int max) {
    List<Decision.Explain> result = new ArrayList<>();
    Iterator<WorkloadEntry> all = waiting.iterator();
    while (all.hasNext() && result.size() < max) {
      WorkloadEntry entry = all.next();
      all.remove();
      Explanation explanation = explain.apply(entry);
      if (explanation != null && isUnreported(entry, explanation)) {
        result.add(new Decision.Explain(entry.id, entry.version, explanation));
      }
    }
    return result;
  }

  private static boolean isUnreported(WorkloadEntry entry, Explanation explanation) {
    QueuedWorkload item = entry.item;
    if (item == null) {
      return true;
    }
    Explanation told = item.reportedAs();
    if (told != null && told.hasSameContentAs(explanation)) {
      return false;
    }
    item.markReported(explanation);
    return true;
  }
}
