package dev.sluice.dashboard;

import dev.sluice.core.engine.SchedulerThread.ViewListener;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Counts changes of queues and Workloads, and wakes those who wait for one. It keeps two numbers
 * for each namespace and one for the rest, whatever the number of changes and of listeners.
 */
public final class ChangeFeed implements ViewListener, WorkloadListener, AutoCloseable {

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<String, Long> workloads = new HashMap<>();
  private final Map<String, Long> localQueues = new HashMap<>();
  private long latest = 1;
  private long clusterQueues = 1;
  private boolean closed;

  /**
   * Who is told.
   *
   * @param clusterQueues whether of ClusterQueues and cohorts
   * @param localQueues of the LocalQueues of which namespaces
   * @param workloads of the Workloads of which namespaces
   */
  record Audience(
      boolean clusterQueues, Predicate<String> localQueues, Predicate<String> workloads) {}

  /**
   * What changed between two revisions.
   *
   * @param revision the later one
   */
  record Changes(long revision, boolean queues, boolean workloads) {}

  /** The number of the latest change. */
  long revision() {
    lock.lock();
    try {
      return latest;
    } finally {
      lock.unlock();
    }
  }

  /** Whether nothing changes any more because the program ends. */
  boolean closed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a change after {@code revision}, for this time at most, or for the end. */
  void await(long revision, Duration limit) throws InterruptedException {
    long left = limit.toNanos();
    lock.lockInterruptibly();
    try {
      while (latest <= revision && !closed && left > 0) {
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits for this time, or for the end. */
  void pause(Duration time) throws InterruptedException {
    await(Long.MAX_VALUE, time);
  }

  /** What of concern to this audience changed after {@code revision}. */
  Changes since(long revision, Audience audience) {
    Map<String, Long> workloadsNow;
    Map<String, Long> localQueuesNow;
    long until;
    boolean queues;
    lock.lock();
    try {
      until = latest;
      queues = audience.clusterQueues() && clusterQueues > revision;
      workloadsNow = new HashMap<>(workloads);
      localQueuesNow = new HashMap<>(localQueues);
    } finally {
      lock.unlock();
    }
    return new Changes(
        until,
        queues || anyAfter(revision, localQueuesNow, audience.localQueues()),
        anyAfter(revision, workloadsNow, audience.workloads()));
  }

  private static boolean anyAfter(
      long revision, Map<String, Long> namespaces, Predicate<String> visible) {
    return namespaces.entrySet().stream()
        .anyMatch(entry -> entry.getValue() > revision && visible.test(entry.getKey()));
  }

  @Override
  public void changed(
      Set<String> changedClusterQueues,
      Set<LocalQueueId> changedLocalQueues,
      Set<String> changedCohorts) {
    lock.lock();
    try {
      latest++;
      if (!changedClusterQueues.isEmpty() || !changedCohorts.isEmpty()) {
        clusterQueues = latest;
      }
      changedLocalQueues.forEach(queue -> localQueues.put(queue.namespace(), latest));
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    CachedWorkload either = after == null ? before : after;
    if (either == null) {
      return;
    }
    lock.lock();
    try {
      workloads.put(either.id().namespace(), ++latest);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends all waiting. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
