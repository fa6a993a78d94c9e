package dev.sluice.engine;

import dev.sluice.engine.EngineQuestions.Holder;
import dev.sluice.engine.EngineQuestions.Turn;
import dev.sluice.engine.EngineQuestions.Waiting;
import dev.sluice.model.Explanation;
import dev.sluice.model.LocalQueueId;
import dev.sluice.model.PendingReason;
import dev.sluice.model.WorkloadId;
import dev.sluice.queue.EquivalenceClass;
import dev.sluice.queue.PendingItem;
import dev.sluice.queue.QueueState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Answers to questions about the state as it stands. Cost: those who wait in the queue asked for.
 */
final class Answers {

  private static final int HOLDERS = 10;

  private static final Explanation NOBODY_IS_LOOKED_AT =
      new Explanation(
          PendingReason.PENDING_EVALUATION,
          List.of(),
          "nobody is looked at until the pods of all admitted workloads are ready");

  private final Registry registry;
  private final WorkloadTable workloads;
  private final Explanations explanations;
  private final Ready ready;
  private final ReadinessGate gate;

  Answers(
      Registry registry,
      WorkloadTable workloads,
      Explanations explanations,
      Ready ready,
      ReadinessGate gate) {
    this.registry = registry;
    this.workloads = workloads;
    this.explanations = explanations;
    this.ready = ready;
    this.gate = gate;
  }

  List<PendingPosition> pendingIn(String clusterQueue) {
    ClusterQueueState queue = registry.clusterQueues.get(clusterQueue);
    if (queue == null) {
      return List.of();
    }
    List<PendingPosition> result = new ArrayList<>();
    Map<LocalQueueId, Integer> next = new HashMap<>();
    for (PendingItem item : queue.pending.inOrder()) {
      int inLocalQueue = next.merge(item.localQueue(), 1, Integer::sum) - 1;
      boolean inadmissible =
          queue.pending.isAside(item) || item.equivalenceClass().parkedWhy() != null;
      result.add(
          new PendingPosition(
              item.id(),
              item.localQueue().name(),
              item.equivalenceClass().priority(),
              item.createdAt(),
              result.size(),
              inLocalQueue,
              inadmissible));
    }
    return result;
  }

  List<PendingPosition> pendingIn(LocalQueueId localQueue) {
    LocalQueueState state = registry.localQueues.get(localQueue);
    if (state == null) {
      return List.of();
    }
    return pendingIn(state.clusterQueue()).stream()
        .filter(
            position ->
                position.queueName().equals(localQueue.name())
                    && position.id().namespace().equals(localQueue.namespace()))
        .toList();
  }

  Optional<Waiting> whyWaiting(WorkloadId id) {
    WorkloadEntry entry = workloads.find(id.uid());
    if (entry == null || entry.stage != WorkloadEntry.Stage.PENDING) {
      return Optional.empty();
    }
    String clusterQueue = entry.localQueue.clusterQueue();
    Optional<PendingPosition> position =
        pendingIn(clusterQueue).stream().filter(each -> each.id().equals(id)).findFirst();
    PendingItem item = entry.item;
    Optional<Explanation> explanation = Optional.ofNullable(explanations.of(entry));
    if (explanation.isEmpty() && item != null) {
      explanation =
          Optional.ofNullable(ready.blockedBy(clusterQueue))
              .map(this::behind)
              .or(() -> gate.isShut() ? Optional.of(NOBODY_IS_LOOKED_AT) : Optional.empty());
    }
    return Optional.of(
        new Waiting(
            position.orElseGet(() -> nowhere(entry)),
            clusterQueue,
            explanation,
            item == null ? List.of() : holders(item.equivalenceClass(), clusterQueue),
            item == null ? Optional.empty() : turn(item, clusterQueue)));
  }

  /** Whose turn it is before this one's, because they used less. */
  private Optional<Turn> turn(PendingItem item, String clusterQueue) {
    ClusterQueueState queue = registry.clusterQueues.get(clusterQueue);
    if (queue == null || !queue.pending.isByUse()) {
      return Optional.empty();
    }
    Map<LocalQueueId, Double> before = new LinkedHashMap<>();
    for (PendingItem other : queue.pending.inOrder()) {
      if (other.use().compareTo(item.use()) < 0 && !queue.pending.isAside(other)) {
        before.putIfAbsent(other.localQueue(), other.use().amount());
      }
    }
    return before.entrySet().stream()
        .findFirst()
        .map(
            first ->
                new Turn(item.use().amount(), first.getKey(), first.getValue(), before.size()));
  }

  private Explanation behind(PendingItem head) {
    return new Explanation(
        PendingReason.PENDING_EVALUATION,
        List.of(),
        "waits behind " + head.id() + ", which doesn't fit, in a StrictFIFO queue");
  }

  private static PendingPosition nowhere(WorkloadEntry entry) {
    return new PendingPosition(
        entry.id, entry.localQueue.id.name(), 0, Instant.EPOCH, -1, -1, true);
  }

  /** Those who hold most of what the class lacks, anywhere in its tree. */
  private List<Holder> holders(EquivalenceClass equals, String clusterQueue) {
    QueueState state = registry.queueState(clusterQueue);
    if (state == null) {
      return List.of();
    }
    List<Holder> holders = new ArrayList<>();
    for (ClusterQueueState other : registry.clusterQueues.values()) {
      QueueState otherState = other.state;
      if (otherState == null || otherState.node().root() != state.node().root()) {
        continue;
      }
      for (EquivalenceClass.Lack lack : equals.lacks()) {
        other.holders.forEach(
            holder -> {
              long amount = holder.amountOf(lack.pair());
              if (amount > 0) {
                holders.add(
                    new Holder(holder.id(), other.name, registry.pairs.pair(lack.pair()), amount));
              }
            });
      }
    }
    holders.sort(
        Comparator.comparingLong(Holder::amount).reversed().thenComparing(h -> h.id().uid()));
    return holders.size() > HOLDERS ? holders.subList(0, HOLDERS) : holders;
  }
}
