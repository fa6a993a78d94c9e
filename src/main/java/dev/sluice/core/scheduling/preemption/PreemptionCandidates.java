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
 * within both groups those under hierarchical advantage, then those of other queues, then those of
 * the preemptor's queue; each list by priority, time of reservation and UID. The sorted candidates
 * of the queues are merged lazily.
 */
final class PreemptionCandidates {

  /** A candidate and its queue. */
  record Candidate(QuotaHolder quotaHolder, CandidateQueue candidateQueue) {}

  private static final Comparator<Cursor> ORDER =
      Comparator.comparing(
          cursor -> Objects.requireNonNull(cursor.current()), QuotaHolder.PREEMPTION_ORDER);

  private final PreemptionRequest preemptionRequest;
  private final boolean borrowing;
  private final List<CandidateQueue> candidateQueues;
  private final PriorityQueue<Cursor> merged = new PriorityQueue<>(ORDER);
  private int phase = -1;
  private @Nullable Cursor current;

  /**
   * @param borrowing whether the preemptor borrows: candidates that it may take only without
   *     borrowing are left out
   */
  PreemptionCandidates(
      PreemptionRequest preemptionRequest,
      List<CandidateQueue> candidateQueues,
      boolean borrowing) {
    this.preemptionRequest = preemptionRequest;
    this.borrowing = borrowing;
    this.candidateQueues = new ArrayList<>(candidateQueues);
  }

  /** The next candidate; null at the end. */
  @Nullable Candidate next() {
    Cursor last = current;
    current = null;
    if (last != null) {
      last.advance();
      add(last);
    }
    while (merged.isEmpty()) {
      if (!nextPhase()) {
        return null;
      }
    }
    Cursor first = merged.remove();
    current = first;
    return new Candidate(Objects.requireNonNull(first.current()), first.source());
  }

  /**
   * Skips the remaining candidates of the last candidate's queue, which doesn't borrow any more.
   */
  void drop() {
    if (current != null) {
      candidateQueues.remove(current.source());
      current = null;
    }
  }

  private void add(Cursor cursor) {
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
          && candidateQueue.mayHaveCandidates(preemptionRequest, evicted, borrowing)) {
        add(candidateQueue.candidates(preemptionRequest, evicted, borrowing));
      }
    }
    return true;
  }
}
