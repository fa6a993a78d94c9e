package dev.sluice.core.queue;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.Instants;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PendingWorkload;
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;
import java.util.Comparator;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One pending Workload in its queue. There may be a million: it holds references to what is shared
 * and little of its own. Confined to the engine's thread.
 */
public final class QueuedWorkload extends IndexedHeap.Entry {

  /**
   * Order among equals: who waits longest, then the UID (docs/scheduling-semantics.md#queue-order).
   */
  static final Comparator<QueuedWorkload> BY_AGE =
      (one, two) -> {
        int byTime = Long.compare(one.queuedAtMicros, two.queuedAtMicros);
        return byTime != 0 ? byTime : one.id.uid().compareTo(two.id.uid());
      };

  private final WorkloadId id;
  private final LocalQueueId localQueue;
  private EquivalenceClass equals;
  private long version;
  private final long createdAtMicros;
  private final long queuedAtMicros;
  private final @Nullable String defect;
  private final boolean gated;
  private @Nullable Explanation aside;
  private @Nullable Explanation reportedAs;
  private @Nullable FlavorProgress flavorProgress;

  QueuedWorkload(PendingWorkload workload, LocalQueueId localQueue, EquivalenceClass equals) {
    this.id = workload.id();
    this.localQueue = localQueue;
    this.equals = equals;
    this.version = workload.version();
    this.createdAtMicros = Instants.micros(workload.createdAt());
    this.queuedAtMicros = Instants.micros(workload.queuedAt());
    this.defect = workload.defect().orElse(null);
    this.gated = workload.gated();
  }

  /** Which Workload. */
  public WorkloadId id() {
    return id;
  }

  /** The LocalQueue it is in. */
  public LocalQueueId localQueue() {
    return localQueue;
  }

  /** Those that are decided alike. */
  public EquivalenceClass equivalenceClass() {
    return equals;
  }

  /** From now on it belongs to these; it is in no heap. */
  void join(EquivalenceClass others) {
    equals = others;
  }

  /** What its LocalQueue used, as far as that counts. */
  public LocalQueueUsage use() {
    return equals.line().use();
  }

  /** The version of the Workload that it stands for. */
  public long version() {
    return version;
  }

  /** Now stands for a later state of the same Workload that asks for the same. */
  public void version(long later) {
    version = later;
  }

  /** When it was created. */
  public Instant createdAt() {
    return Instants.ofMicros(createdAtMicros);
  }

  /** Since when it queues. */
  public Instant queuedAt() {
    return Instants.ofMicros(queuedAtMicros);
  }

  /** Since when it queues, in microseconds since the epoch. */
  public long queuedAtMicros() {
    return queuedAtMicros;
  }

  /** Why it can't be considered whatever the quota, if so. */
  public Optional<String> defect() {
    return Optional.ofNullable(defect);
  }

  /** Whether it may not preempt yet. */
  public boolean gated() {
    return gated;
  }

  void held(@Nullable Explanation why) {
    aside = why;
  }

  /** Why it waits, as far as it was found out: its own reason, or that of its class. */
  public @Nullable Explanation explanation() {
    return aside != null ? aside : equals.explanation();
  }

  /** What people were told last; null if nothing. */
  public @Nullable Explanation reportedAs() {
    return reportedAs;
  }

  /** Remembers what people are told. */
  public void markReported(Explanation explanation) {
    reportedAs = explanation;
  }

  /** Keeps what people were told of the state of this Workload that came before. */
  void lastReported(QueuedWorkload before) {
    reportedAs = before.reportedAs;
  }

  /** How far the search through the flavors came; null to start at the first. */
  public @Nullable FlavorProgress flavorProgress() {
    return flavorProgress;
  }

  /** Remembers how far the search through the flavors came; null to start at the first. */
  public void flavorProgress(@Nullable FlavorProgress progress) {
    flavorProgress = progress;
  }
}
