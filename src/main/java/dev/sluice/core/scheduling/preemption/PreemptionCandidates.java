package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.scheduling.preemption.CandidateQueue.Cursor;
import dev.sluice.core.scheduling.preemption.CandidateQueue.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The candidates of several queues in the order in which they are taken: those being evicted first;
 * of each, those under hierarchical advantage, then of other queues, then of the own; each list by
 * priority, reservation and UID. The queues, each in order by itself, are merged as far as somebody
 * asks.
 */
final class PreemptionCandidates {

  /** One candidate, and the queue it comes from. */
  record Candidate(QuotaHolder quotaHolder, CandidateQueue candidateQueue) {}

  private static final Comparator<Cursor> ORDER =
      Comparator.comparing(
          cursor -> Objects.requireNonNull(cursor.current()), QuotaHolder.VICTIM_ORDER);

  private final PreemptionRequest preemptionRequest;
  private final boolean borrowing;
  private final List<CandidateQueue> candidateQueues;
  private final PriorityQueue<Cursor> merged = new PriorityQueue<>(ORDER);
  private int phase = -1;
  private @Nullable Cursor at;

  /**
   * @param borrowing whether those are left out who may be taken only as long as the preemptor
   *     doesn't borrow
   */
  PreemptionCandidates(
      PreemptionRequest preemptionRequest,
      List<CandidateQueue> candidateQueues,
      boolean borrowing) {
    this.preemptionRequest = preemptionRequest;
    this.borrowing = borrowing;
    this.candidateQueues = new ArrayList<>(candidateQueues);
  }

  /** The next one; null when there are no more. */
  @Nullable Candidate next() {
    Cursor last = at;
    at = null;
    if (last != null) {
      last.advance();
      enter(last);
    }
    while (merged.isEmpty()) {
      if (!nextPhase()) {
        return null;
      }
    }
    Cursor first = merged.remove();
    at = first;
    return new Candidate(Objects.requireNonNull(first.current()), first.source());
  }

  /** No more of the queue that the last one came from: it has nothing to give any more. */
  void drop() {
    if (at != null) {
      candidateQueues.remove(at.source());
      at = null;
    }
  }

  private void enter(Cursor cursor) {
    if (cursor.current() != null) {
      merged.add(cursor);
    }
  }

  private boolean nextPhase() {
    Kind[] kinds = Kind.values();
    phase++;
    if (phase >= 2 * kinds.length) {
      return false;
    }
    boolean evicted = phase < kinds.length;
    Kind kind = kinds[phase % kinds.length];
    for (CandidateQueue candidateQueue : candidateQueues) {
      if (candidateQueue.kind() == kind
          && candidateQueue.mayHave(preemptionRequest, evicted, borrowing)) {
        enter(candidateQueue.candidates(preemptionRequest, evicted, borrowing));
      }
    }
    return true;
  }
}
