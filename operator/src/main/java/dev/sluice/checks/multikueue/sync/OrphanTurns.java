package dev.sluice.checks.multikueue.sync;

import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Whose turn it is to withdraw copies whose Workload the manager doesn't have: a few at a time in
 * each worker. A worker may tell of any number of copies, and be slow to delete them; those that
 * wait hold a name each, and no request. Thread-safe.
 */
final class OrphanTurns {

  /** Withdrawals from one worker at a time. */
  static final int AT_A_TIME = 8;

  private final Map<String, Worker> workers = new HashMap<>();

  private static final class Worker {
    private int underWay;
    private final Set<Key> waiting = new LinkedHashSet<>();
  }

  /**
   * Begins a withdrawal, or notes that one waits.
   *
   * @return whether it is this Workload's turn in this worker; then {@link #end} must follow
   */
  synchronized boolean begin(String cluster, Key workload) {
    Worker worker = workers.computeIfAbsent(cluster, any -> new Worker());
    if (worker.underWay == AT_A_TIME) {
      worker.waiting.add(workload);
      return false;
    }
    worker.underWay++;
    return true;
  }

  /**
   * Ends a withdrawal.
   *
   * @return the Workloads that may begin now, those that wait longest first
   */
  synchronized List<Key> end(String cluster) {
    Worker worker = workers.get(cluster);
    if (worker == null) {
      return List.of();
    }
    worker.underWay--;
    List<Key> next = worker.waiting.stream().limit((long) AT_A_TIME - worker.underWay).toList();
    next.forEach(worker.waiting::remove);
    if (worker.underWay == 0 && worker.waiting.isEmpty()) {
      workers.remove(cluster);
    }
    return next;
  }
}
