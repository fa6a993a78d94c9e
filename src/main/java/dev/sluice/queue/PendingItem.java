package dev.sluice.queue;

import dev.sluice.model.Explanation;
import dev.sluice.model.LocalQueueId;
import dev.sluice.model.PendingWorkload;
import dev.sluice.model.WorkloadId;
import java.time.Instant;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * One pending Workload in its queue. There may be a million: it holds references to what is shared
 * and little of its own. Confined to the engine's thread.
 */
public final class PendingItem extends IndexedHeap.Entry {

  /** Order among equals: who waits longest, then the UID (scheduling semantics, 2.4 and 2.5). */
  static final Comparator<PendingItem> BY_AGE =
      Comparator.comparingLong(PendingItem::queuedAtMicros).thenComparing(PendingItem::uid);

  private final WorkloadId id;
  private final LocalQueueId localQueue;
  private final EquivalenceClass equals;
  private long version;
  private final long createdAtMicros;
  private final long queuedAtMicros;
  private @Nullable Explanation aside;
  private @Nullable Explanation told;
  private int @Nullable [] flavorProgress;
  private long flavorProgressGeneration;

  PendingItem(PendingWorkload workload, LocalQueueId localQueue, EquivalenceClass equals) {
    this.id = workload.id();
    this.localQueue = localQueue;
    this.equals = equals;
    this.version = workload.version();
    this.createdAtMicros = micros(workload.createdAt());
    this.queuedAtMicros = micros(workload.queuedAt());
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
    return instant(createdAtMicros);
  }

  /** Since when it queues. */
  public Instant queuedAt() {
    return instant(queuedAtMicros);
  }

  /** Since when it queues, in microseconds since the epoch. */
  public long queuedAtMicros() {
    return queuedAtMicros;
  }

  private String uid() {
    return id.uid();
  }

  void setAside(@Nullable Explanation why) {
    aside = why;
  }

  /** Why it waits, as far as it was found out: its own reason, or that of its class. */
  public @Nullable Explanation explanation() {
    return aside != null ? aside : equals.parkedWhy();
  }

  /** What people were told last; null if nothing. */
  public @Nullable Explanation told() {
    return told;
  }

  /** Remembers what people are told. */
  public void tell(Explanation explanation) {
    told = explanation;
  }

  /** Keeps what people were told of the state of this Workload that came before. */
  void toldAs(PendingItem before) {
    told = before.told;
  }

  /**
   * Where the search through the flavors goes on, by resource group and pod-set group, if a flavor
   * was lost to another in a cycle before; null to start at the first.
   *
   * @param generation the quota generation of the queue now; older progress is dropped
   */
  public int @Nullable [] flavorProgress(long generation) {
    return flavorProgressGeneration == generation ? flavorProgress : null;
  }

  /** Remembers where the search goes on; null to start at the first flavor. */
  public void flavorProgress(int @Nullable [] progress, long generation) {
    flavorProgress = progress;
    flavorProgressGeneration = generation;
  }

  private static long micros(Instant instant) {
    return Math.addExact(
        Math.multiplyExact(instant.getEpochSecond(), 1_000_000L), instant.getNano() / 1_000);
  }

  private static Instant instant(long micros) {
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1_000);
  }
}
