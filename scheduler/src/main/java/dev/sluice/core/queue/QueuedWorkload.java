package dev.sluice.core.queue;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.Instants;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.PreemptionProtection.PreemptionHistory;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A pending Workload in its queue. There may be a million instances: each refers to shared objects
 * and has little state of its own. Confined to the scheduler thread.
 */
public final class QueuedWorkload extends IndexedHeap.Entry {

  /**
   * Order within a class: the longest waiting Workload first, then by UID
   * (docs/scheduling-semantics.md#queue-order).
   */
  static final Comparator<QueuedWorkload> BY_AGE =
      (one, two) -> {
        int byTime = Long.compare(one.queuedAtMicros, two.queuedAtMicros);
        return byTime != 0 ? byTime : one.id.uid().compareTo(two.id.uid());
      };

  /** Higher priority first, then the longest waiting Workload, then by UID. */
  public static final Comparator<QueuedWorkload> BY_PRIORITY_AND_AGE =
      (one, two) -> {
        int byPriority =
            Long.compare(two.equivalenceClass.priority(), one.equivalenceClass.priority());
        return byPriority != 0 ? byPriority : BY_AGE.compare(one, two);
      };

  private final WorkloadId id;
  private final LocalQueueId localQueue;
  private EquivalenceClass equivalenceClass;
  private long version;
  private final long createdAtMicros;
  private final long queuedAtMicros;
  private final @Nullable String defect;
  private final boolean gated;
  private final boolean evictable;
  private final PreemptionHistory history;
  private boolean held;
  private @Nullable Explanation heldFor;
  private @Nullable Explanation reportedAs;
  private @Nullable FlavorProgress flavorProgress;

  /** How long it runs at most, as of the bounds with this number. */
  private long longest;

  private int longestAsOf = -1;

  QueuedWorkload(
      PendingWorkload workload, LocalQueueId localQueue, EquivalenceClass equivalenceClass) {
    this.id = workload.id();
    this.localQueue = localQueue;
    this.equivalenceClass = equivalenceClass;
    this.version = workload.version();
    this.createdAtMicros = Instants.micros(workload.createdAt());
    this.queuedAtMicros = Instants.micros(workload.queuedAt());
    this.defect = workload.defect().orElse(null);
    this.gated = workload.gated();
    this.evictable = workload.evictable();
    this.history = workload.history();
  }

  private QueuedWorkload(
      PendingQueueExport.QueuedExport exported,
      LocalQueueId localQueue,
      EquivalenceClass equivalenceClass) {
    this.id = exported.id();
    this.localQueue = localQueue;
    this.equivalenceClass = equivalenceClass;
    this.version = exported.version();
    this.createdAtMicros = Instants.micros(exported.createdAt());
    this.queuedAtMicros = Instants.micros(exported.queuedAt());
    this.defect = exported.conditions().defect().orElse(null);
    this.gated = exported.conditions().gated();
    this.evictable = exported.conditions().evictable();
    this.history = exported.conditions().history();
  }

  /**
   * The Workload as a value; why it is held is known to its queue.
   *
   * @param explanations the indexes of explanations
   * @param current the queue with its spec of now; null if the queue was deleted
   */
  PendingQueueExport.QueuedExport export(
      PendingQueueExport.ExplanationIndex explanations, @Nullable ClusterQueueCache current) {
    return new PendingQueueExport.QueuedExport(
        id,
        localQueue.name(),
        version,
        createdAt(),
        queuedAt(),
        new PendingQueueExport.QueuedConditions(defect(), gated, evictable, history),
        explanations.of(reportedAs),
        Optional.ofNullable(flavorProgress).map(progress -> progress.export(current)));
  }

  /** The Workload that a value stands for, as a member of a class. */
  static QueuedWorkload restored(
      PendingQueueExport.QueuedExport exported,
      LocalQueueId localQueue,
      EquivalenceClass equivalenceClass,
      @Nullable Explanation reportedAs,
      @Nullable ClusterQueueCache current) {
    QueuedWorkload item = new QueuedWorkload(exported, localQueue, equivalenceClass);
    item.reportedAs = reportedAs;
    item.flavorProgress =
        exported
            .flavorProgress()
            .map(progress -> FlavorProgress.restored(progress, current))
            .orElse(null);
    return item;
  }

  /** Identity of the Workload. */
  public WorkloadId id() {
    return id;
  }

  /** The LocalQueue of the Workload. */
  public LocalQueueId localQueue() {
    return localQueue;
  }

  /** The class of Workloads that scheduling treats like this one. */
  public EquivalenceClass equivalenceClass() {
    return equivalenceClass;
  }

  /** Changes the class; the item must not be in a heap. */
  void join(EquivalenceClass others) {
    equivalenceClass = others;
  }

  /** Usage over time of the LocalQueue, as the order compares it. */
  public LocalQueueUsage usage() {
    return equivalenceClass.lane().usage();
  }

  /** The resourceVersion of the Workload, as a number. */
  public long version() {
    return version;
  }

  /** Sets the version of a later state of the Workload with the same request. */
  public void version(long later) {
    version = later;
  }

  /** Time of creation. */
  public Instant createdAt() {
    return Instants.ofMicros(createdAtMicros);
  }

  /** The time since which the Workload is queued. */
  public Instant queuedAt() {
    return Instants.ofMicros(queuedAtMicros);
  }

  /** The time since which the Workload is queued, in microseconds since the epoch. */
  public long queuedAtMicros() {
    return queuedAtMicros;
  }

  /**
   * Since when the Workload waits, in microseconds since the epoch: since it is queued, or since
   * the quota of its last run went back, which doesn't move it in its queue.
   */
  public long waitsSinceMicros() {
    return Math.max(queuedAtMicros, history.since().map(Instants::micros).orElse(Long.MIN_VALUE));
  }

  /** Why the Workload can't be evaluated, whatever the quota; empty if it can. */
  public Optional<String> defect() {
    return Optional.ofNullable(defect);
  }

  /** Whether a closed preemption gate forbids preemption. */
  public boolean gated() {
    return gated;
  }

  /** Whether somebody stops the pods when the Workload is evicted. */
  public boolean evictable() {
    return evictable;
  }

  /** What happened to the Workload that rules of preemption depend on. */
  public PreemptionHistory history() {
    return history;
  }

  /**
   * From when on the Workload may preempt, in microseconds since the epoch; {@link Long#MIN_VALUE}
   * if no rule delays it.
   *
   * @param queueRules the rules of its ClusterQueue and of the Cohorts above
   */
  public long preemptsFromMicros(PreemptionRules queueRules) {
    Optional<Duration> delay = equivalenceClass.shape().preemption().delay().or(queueRules::delay);
    if (delay.isEmpty()) {
      return Long.MIN_VALUE;
    }
    return PreemptionProtection.after(waitsSinceMicros(), delay.get());
  }

  /** Whether its queue holds it. */
  boolean isHeld() {
    return held;
  }

  /** Records whether its queue holds it. */
  void setHeld(boolean isHeld) {
    held = isHeld;
  }

  /** The reason of its own for which the Workload is held; null if there is none. */
  @Nullable Explanation heldFor() {
    return heldFor;
  }

  void held(@Nullable Explanation reason) {
    heldFor = reason;
  }

  /** Why the Workload is pending, if known: its own reason, or the reason of its class. */
  public @Nullable Explanation explanation() {
    return heldFor != null ? heldFor : equivalenceClass.explanation();
  }

  /** The explanation that was reported last; null if there was none. */
  public @Nullable Explanation reportedAs() {
    return reportedAs;
  }

  /** Records the explanation that is reported. */
  public void markReported(Explanation explanation) {
    reportedAs = explanation;
  }

  /** Takes over the reported explanation of the previous item of this Workload. */
  void lastReported(QueuedWorkload before) {
    reportedAs = before.reportedAs;
  }

  /**
   * How long it runs at most, in microseconds; remembered until a bound of any Workload changes.
   *
   * @param bounds the number of the last change of bounds
   * @param ofUid how long a Workload runs at most
   */
  public long longest(int bounds, ToLongFunction<String> ofUid) {
    if (longestAsOf != bounds) {
      longest = ofUid.applyAsLong(id.uid());
      longestAsOf = bounds;
    }
    return longest;
  }

  /** The progress of the flavor search; null to start at the first flavor. */
  public @Nullable FlavorProgress flavorProgress() {
    return flavorProgress;
  }

  /** Sets the progress of the flavor search; null to start at the first flavor. */
  public void flavorProgress(@Nullable FlavorProgress progress) {
    flavorProgress = progress;
  }
}
