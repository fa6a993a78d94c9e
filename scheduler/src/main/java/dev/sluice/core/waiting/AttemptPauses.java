package dev.sluice.core.waiting;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.PendingQueue;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.queue.QueueingPolicy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Workloads that were tried in vain in queues whose strategy backs off: the number of attempts, and
 * the end of the current pause (docs/queueing-policies.md#roundrobin). Attempts are forgotten when
 * the Workload leaves its queue. Empty while no queue backs off.
 */
final class AttemptPauses {

  private static final String PAUSES =
      "the queue is RoundRobin: it is tried again after a pause, not when quota is released";

  private static final String PAUSES_OR_RELEASE =
      "the queue is StrictPriority: it is tried again after a pause, or when quota of the queue is"
          + " released";

  private static final class Attempts implements Comparable<Attempts> {
    private final QueuedWorkload item;
    private final String clusterQueue;
    private int count;

    /** The end of the pause; null while the Workload is active. */
    private @Nullable Instant until;

    Attempts(QueuedWorkload item, String clusterQueue) {
      this.item = item;
      this.clusterQueue = clusterQueue;
    }

    @Override
    public int compareTo(Attempts other) {
      Instant mine = until == null ? Instant.MIN : until;
      int byTime = mine.compareTo(other.until == null ? Instant.MIN : other.until);
      return byTime != 0 ? byTime : item.id().uid().compareTo(other.item.id().uid());
    }
  }

  private final Map<PendingQueue, Map<QueuedWorkload, Attempts>> attempts = new HashMap<>();
  private final TreeSet<Attempts> paused = new TreeSet<>();

  /** The attempts as values, in the order of UIDs. */
  List<WaitingExport.AttemptsExport> export() {
    List<WaitingExport.AttemptsExport> exported = new ArrayList<>();
    for (Map<QueuedWorkload, Attempts> ofQueue : attempts.values()) {
      for (Attempts known : ofQueue.values()) {
        exported.add(
            new WaitingExport.AttemptsExport(
                known.clusterQueue,
                known.item.id().uid(),
                known.count,
                Optional.ofNullable(known.until)));
      }
    }
    exported.sort(Comparator.comparing(WaitingExport.AttemptsExport::uid));
    return exported;
  }

  /** Takes attempts over. */
  void restore(List<WaitingExport.AttemptsExport> exported, ExportedNames names) {
    for (WaitingExport.AttemptsExport each : exported) {
      QueuedWorkload item = names.queued(each.uid());
      if (item != null) {
        Attempts known = new Attempts(item, each.clusterQueue());
        known.count = each.count();
        known.until = each.until().orElse(null);
        attempts
            .computeIfAbsent(item.equivalenceClass().queue(), any -> new HashMap<>())
            .put(item, known);
        if (known.until != null) {
          paused.add(known);
        }
      }
    }
  }

  /** Begins the pause after one more attempt in vain; the caller holds the Workload. */
  void pause(QueuedWorkload item, ClusterQueueCache queue, Instant now) {
    Attempts known =
        attempts
            .computeIfAbsent(queue.pending(), any -> new HashMap<>())
            .computeIfAbsent(item, any -> new Attempts(item, queue.name()));
    known.count++;
    known.until = now.plus(queue.spec().rules().attemptBackoff().after(known.count));
    paused.add(known);
  }

  /** The explanation of a Workload that was tried in vain, with what brings it back. */
  static Explanation explanation(Explanation inVain, QueueingPolicy policy) {
    String detail = policy.releaseEndsPauses() ? PAUSES_OR_RELEASE : PAUSES;
    return new Explanation(
        inVain.reason(),
        inVain.attempts(),
        inVain.detail().isEmpty() ? detail : inVain.detail() + "; " + detail,
        inVain.gated());
  }

  /** Whether a held Workload is held for its pause. */
  boolean isPaused(QueuedWorkload item) {
    if (paused.isEmpty()) {
      return false;
    }
    Attempts known = attempts.getOrDefault(item.equivalenceClass().queue(), Map.of()).get(item);
    return known != null && known.until != null;
  }

  /** When the first pause ends; {@link Instant#MAX} if there is none. */
  Instant next() {
    Instant until = paused.isEmpty() ? null : paused.first().until;
    return until == null ? Instant.MAX : until;
  }

  /**
   * Returns Workloads whose pauses have ended to their queues.
   *
   * @param onReturned called with the name of the ClusterQueue
   */
  void end(Instant now, Consumer<String> onReturned) {
    while (!paused.isEmpty()) {
      Attempts first = paused.first();
      if (first.until == null || first.until.isAfter(now)) {
        return;
      }
      paused.remove(first);
      first.until = null;
      first.item.equivalenceClass().queue().release(first.item);
      onReturned.accept(first.clusterQueue);
    }
  }

  /**
   * Ends all pauses of a queue, and forgets the attempts.
   *
   * @return whether any Workload returned to the queue
   */
  boolean endAll(PendingQueue queue) {
    Map<QueuedWorkload, Attempts> all = attempts.isEmpty() ? null : attempts.remove(queue);
    if (all == null) {
      return false;
    }
    List<Attempts> returned = new ArrayList<>();
    for (Attempts known : all.values()) {
      if (known.until != null) {
        paused.remove(known);
        returned.add(known);
      }
    }
    returned.sort(null);
    returned.forEach(known -> queue.release(known.item));
    return !returned.isEmpty();
  }

  /** Forgets a Workload that leaves its queue. */
  void forget(QueuedWorkload item) {
    if (attempts.isEmpty()) {
      return;
    }
    PendingQueue queue = item.equivalenceClass().queue();
    Map<QueuedWorkload, Attempts> all = attempts.get(queue);
    Attempts known = all == null ? null : all.remove(item);
    if (known != null && known.until != null) {
      paused.remove(known);
    }
    if (all != null && all.isEmpty()) {
      attempts.remove(queue);
    }
  }
}
