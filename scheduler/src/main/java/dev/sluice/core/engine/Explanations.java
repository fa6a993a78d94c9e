package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.waiting.WaitingWorkloads;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Finds out why a Workload is pending (docs/workload-semantics.md#reasons-for-waiting). */
final class Explanations {

  private final SpecRegistry specRegistry;
  private final WaitingWorkloads waiting;

  Explanations(SpecRegistry specRegistry, WaitingWorkloads waiting) {
    this.specRegistry = specRegistry;
    this.waiting = waiting;
  }

  static Explanation misconfigured(String detail) {
    return new Explanation(PendingReason.MISCONFIGURED, List.of(), detail);
  }

  private static Explanation suspended(String detail) {
    return new Explanation(PendingReason.SUSPENDED, List.of(), detail);
  }

  /**
   * The explanation for a pending Workload; null when the Workload is not pending, or was not
   * evaluated yet.
   */
  @Nullable Explanation of(WorkloadEntry entry) {
    if (entry.stage != WorkloadEntry.Stage.PENDING) {
      return null;
    }
    LocalQueueState localQueue = entry.localQueue;
    if (!localQueue.exists()) {
      return misconfigured("LocalQueue " + localQueue.id.name() + " doesn't exist");
    }
    if (localQueue.stopped()) {
      return suspended("LocalQueue " + localQueue.id.name() + " is stopped");
    }
    String name = localQueue.clusterQueue();
    ClusterQueueState queue = specRegistry.clusterQueues.get(name);
    if (queue == null || queue.spec == null) {
      return misconfigured("ClusterQueue " + name + " doesn't exist");
    }
    if (!queue.active()) {
      return suspended("ClusterQueue " + name + " is inactive: " + messages(queue.problems));
    }
    QueuedWorkload item = entry.item;
    return item == null ? null : waiting.explanation(name, item);
  }

  private static String messages(List<InactiveReason> problems) {
    return String.join("; ", problems.stream().map(InactiveReason::message).toList());
  }

  /**
   * Workloads whose explanation may have changed since it was reported. The explanation is computed
   * only when it is taken, so that intermediate explanations are never reported.
   */
  static final class UnreportedExplanations {

    private final Function<WorkloadEntry, @Nullable Explanation> explain;
    private final Set<WorkloadEntry> candidates = new LinkedHashSet<>();

    UnreportedExplanations(Function<WorkloadEntry, @Nullable Explanation> explain) {
      this.explain = explain;
    }

    /** UIDs of the Workloads, in the order in which their explanations may have changed. */
    List<String> export() {
      return candidates.stream().map(entry -> entry.id.uid()).toList();
    }

    /** Forgets a Workload that is gone: nobody needs its explanation. */
    void forget(WorkloadEntry entry) {
      candidates.remove(entry);
    }

    void add(WorkloadEntry entry) {
      candidates.add(entry);
    }

    /**
     * Adds a Workload that joined its class, if the class is inadmissible: then its explanation
     * applies to the Workload, too.
     */
    void add(QueuedWorkload item, WorkloadEntry entry) {
      if (item.equivalenceClass().explanation() != null) {
        candidates.add(entry);
      }
    }

    /**
     * Removes and returns up to {@code max} explanations that differ from the ones reported last.
     */
    List<PendingExplanation> take(int max) {
      List<PendingExplanation> result = new ArrayList<>();
      Iterator<WorkloadEntry> all = candidates.iterator();
      while (all.hasNext() && result.size() < max) {
        WorkloadEntry entry = all.next();
        all.remove();
        Explanation explanation = explain.apply(entry);
        if (explanation != null && isUnreported(entry, explanation)) {
          result.add(new PendingExplanation(entry.id, entry.version, explanation));
        }
      }
      return result;
    }

    private static boolean isUnreported(WorkloadEntry entry, Explanation explanation) {
      QueuedWorkload item = entry.item;
      if (item == null) {
        return true;
      }
      Explanation reported = item.reportedAs();
      if (reported != null && reported.hasSameContentAs(explanation)) {
        return false;
      }
      item.markReported(explanation);
      return true;
    }
  }
}
