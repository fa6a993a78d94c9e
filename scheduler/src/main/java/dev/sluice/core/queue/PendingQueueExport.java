package dev.sluice.core.queue;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.PreemptionProtection.PreemptionHistory;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.EquivalenceClass.Shortage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The state of a {@link PendingQueue} as a value (docs/engine-state.md). Explanations are named by
 * their index in one list, because the members of a class share theirs; -1 is none.
 *
 * @param explanations the explanations
 * @param classes the classes
 * @param held the Workloads that are held alone, in the order in which they were
 * @param preemptor the preemptor that became sticky last; empty if there is none
 */
public record PendingQueueExport(
    List<Explanation> explanations,
    List<ClassExport> classes,
    List<HeldExport> held,
    Optional<WorkloadId> preemptor) {

  /** The index of no explanation. */
  public static final int NONE = -1;

  public PendingQueueExport {
    explanations = List.copyOf(explanations);
    classes = List.copyOf(classes);
    held = List.copyOf(held);
  }

  /** The explanation with this index; null if there is none. */
  @Nullable Explanation explanation(int index) {
    return index == NONE ? null : explanations.get(index);
  }

  /** Gives explanations their indexes; equal ones that aren't the same have several. */
  static final class ExplanationIndex {

    private final Map<Explanation, Integer> indexes = new IdentityHashMap<>();
    private final List<Explanation> explanations = new ArrayList<>();

    int of(@Nullable Explanation explanation) {
      if (explanation == null) {
        return NONE;
      }
      Integer known = indexes.putIfAbsent(explanation, explanations.size());
      if (known != null) {
        return known;
      }
      explanations.add(explanation);
      return explanations.size() - 1;
    }

    List<Explanation> all() {
      return explanations;
    }
  }

  /**
   * An equivalence class.
   *
   * @param shape the request of each member
   * @param priority the priority of each member
   * @param explanation why the class is inadmissible; none while it is active
   * @param missingQuota the amounts that were missing
   * @param lastReported the explanation of the class that was reported last
   * @param members the members, held ones last
   * @param unreported the indexes of members that joined since then
   */
  public record ClassExport(
      RequestShape shape,
      long priority,
      int explanation,
      List<Shortage> missingQuota,
      int lastReported,
      List<QueuedExport> members,
      List<Integer> unreported) {

    public ClassExport {
      missingQuota = List.copyOf(missingQuota);
      members = List.copyOf(members);
      unreported = List.copyOf(unreported);
    }

    /** The members as they were told to the engine. */
    public List<PendingWorkload> workloads() {
      return members.stream().map(this::workload).toList();
    }

    private PendingWorkload workload(QueuedExport queued) {
      QueuedConditions conditions = queued.conditions();
      return new PendingWorkload(
          queued.id(),
          queued.version(),
          queued.queueName(),
          shape,
          priority,
          queued.createdAt(),
          queued.queuedAt(),
          Optional.empty(),
          false,
          conditions.defect(),
          conditions.gated(),
          conditions.evictable(),
          conditions.history());
    }
  }

  /**
   * A Workload in its queue.
   *
   * @param id identity of the Workload
   * @param queueName name of the LocalQueue, in the Workload's namespace
   * @param version the resourceVersion as a number
   * @param createdAt the time of creation
   * @param queuedAt the position in the queue
   * @param conditions what keeps it from being evaluated or from preempting
   * @param reportedAs the explanation that was reported last
   * @param flavorProgress the progress of the flavor search; empty to start at the first flavor
   */
  public record QueuedExport(
      WorkloadId id,
      String queueName,
      long version,
      Instant createdAt,
      Instant queuedAt,
      QueuedConditions conditions,
      int reportedAs,
      Optional<ProgressExport> flavorProgress) {}

  /**
   * What a Workload in its queue says of itself beside its request.
   *
   * @param defect why it can't be evaluated whatever the quota; empty if it can
   * @param gated whether a preemption gate is closed
   * @param evictable whether somebody stops the pods when the Workload is evicted
   * @param history what happened to it that rules of preemption depend on
   */
  public record QueuedConditions(
      Optional<String> defect, boolean gated, boolean evictable, PreemptionHistory history) {}

  /**
   * The progress of a flavor search.
   *
   * @param last the index of the last flavor that was tried, by pod set and resource group
   * @param current whether the queue still has the spec of that time
   * @param quotaGeneration the queue's quota generation at that time
   * @param cycle the number of the cycle that recorded the progress
   * @param began the number of the cycle in which the search started
   * @param searchCycles the number of cycles that the search took so far
   */
  public record ProgressExport(
      List<Integer> last,
      boolean current,
      long quotaGeneration,
      long cycle,
      long began,
      int searchCycles) {

    public ProgressExport {
      last = List.copyOf(last);
    }
  }

  /**
   * A Workload that is held alone.
   *
   * @param ofClass the index of its class
   * @param member its index among the members of the class
   * @param reason why it is held; none if there is nothing to report
   */
  public record HeldExport(int ofClass, int member, int reason) {}
}
