package dev.sluice.core.queue;

/**
 * The classes of one LocalQueue, with admission fair sharing; otherwise of the whole ClusterQueue.
 * Confined to the scheduler thread.
 */
final class LocalQueueLane {

  private final LocalQueueUsage usage;
  private final LaneClasses active;
  private final LaneClasses inadmissible;

  /** Number of classes of the lane, active or not. */
  private int size;

  LocalQueueLane(LocalQueueUsage usage) {
    this.usage = usage;
    this.active = new LaneClasses(usage);
    this.inadmissible = new LaneClasses(usage);
  }

  LocalQueueUsage usage() {
    return usage;
  }

  LaneClasses active() {
    return active;
  }

  LaneClasses inadmissible() {
    return inadmissible;
  }

  /** Counts a class of the lane that was created, or with -1 one that was dropped. */
  void count(int more) {
    size += more;
  }

  /** Whether the lane has no classes. */
  boolean isUnused() {
    return size == 0;
  }
}
