package dev.sluice.checks.multikueue.sync;

import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/**
 * The Workloads that are to be reconciled, at once or at a time. Each Workload is reconciled by one
 * thread at a time; a Workload that is enqueued meanwhile is reconciled again. What a
 * reconciliation notes about a Workload is kept until the Workload needs none any more.
 * Thread-safe.
 */
final class ReconcileQueue {

  private final ConnectionContext connectionContext;
  private final BooleanSupplier open;
  private final Reconciliation reconciliation;
  private final Map<Key, ReconcileState> reconcileStates = new ConcurrentHashMap<>();

  /** One reconciliation of a Workload. */
  @FunctionalInterface
  interface Reconciliation {

    /** Reconciles a Workload; false if no notes must be kept for the Workload. */
    boolean run(Key key, ReconcileNotes notes);
  }

  /** State of a Workload between reconciliations; guarded by the map that contains it. */
  private static final class ReconcileState {
    private boolean running;
    private boolean again;
    private Optional<Instant> nextReconcile = Optional.empty();
    private final ReconcileNotes reconcileNotes = new ReconcileNotes();
  }

  /**
   * An empty queue.
   *
   * @param open whether anything is reconciled, at the moment of asking; otherwise Workloads are
   *     not enqueued
   */
  ReconcileQueue(
      ConnectionContext connectionContext, BooleanSupplier open, Reconciliation reconciliation) {
    this.connectionContext = connectionContext;
    this.open = open;
    this.reconciliation = reconciliation;
  }

  /** Whether something is kept for the Workload. */
  boolean knows(Key key) {
    return reconcileStates.containsKey(key);
  }

  /** Enqueues all Workloads for which something is kept. */
  void enqueueAll() {
    reconcileStates.keySet().forEach(this::enqueue);
  }

  /** Enqueues a Workload if something is kept for it. */
  void enqueueIfKnown(Key key) {
    if (knows(key)) {
      enqueue(key);
    }
  }

  /** Enqueues a Workload; it is reconciled soon, on another thread. */
  void enqueue(Key key) {
    if (!open.getAsBoolean()) {
      return;
    }
    boolean[] start = {false};
    reconcileStates.compute(
        key,
        (any, known) -> {
          ReconcileState reconcileState = known == null ? new ReconcileState() : known;
          start[0] = !reconcileState.running;
          reconcileState.again = reconcileState.running;
          reconcileState.running = true;
          return reconcileState;
        });
    if (start[0]) {
      connectionContext.io().execute(() -> work(key));
    }
  }

  private void work(Key key) {
    boolean[] more = {true};
    while (more[0]) {
      ReconcileState state = reconcileStates.get(key);
      boolean known = state != null && reconciliation.run(key, state.reconcileNotes);
      reconcileStates.computeIfPresent(
          key,
          (any, reconcileState) -> {
            more[0] = reconcileState.again;
            reconcileState.again = false;
            reconcileState.running = more[0];
            return more[0] || known ? reconcileState : null;
          });
    }
  }

  /** Schedules a reconciliation, unless an earlier one is scheduled. */
  void requeueAt(Key key, Instant at) {
    reconcileStates.computeIfPresent(
        key,
        (any, reconcileState) -> {
          if (reconcileState.nextReconcile.filter(set -> !set.isAfter(at)).isEmpty()) {
            reconcileState.nextReconcile = Optional.of(at);
            Duration delay = Duration.between(connectionContext.clock().instant(), at);
            connectionContext
                .delays()
                .after(delay.isNegative() ? Duration.ZERO : delay, () -> onTimer(key, at));
          }
          return reconcileState;
        });
  }

  private void onTimer(Key key, Instant at) {
    reconcileStates.computeIfPresent(
        key,
        (any, reconcileState) -> {
          reconcileState.nextReconcile =
              reconcileState.nextReconcile.filter(set -> !set.equals(at));
          return reconcileState;
        });
    enqueueIfKnown(key);
  }
}
