package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.scheduling.preemption.CandidateQueue.Cursor;
import dev.sluice.core.scheduling.preemption.CandidateQueue.Kind;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The candidates of several queues in the order in which they are taken: those being evicted first;
 * within both groups those under hierarchical advantage, then those of other queues, then those of
 * the preemptor's queue; each list by priority, time of reservation and UID. The sorted candidates
 * of the queues are merged lazily: the holders of a queue are not iterated over before the first of
 * them comes before the candidates of all other queues.
 */
final class PreemptionCandidates {

  /** A candidate and its queue. */
  record Candidate(QuotaHolder quotaHolder, CandidateQueue candidateQueue) {}

  /** The candidates of one queue. */
  private static final class Lane {
    private static final Comparator<Lane> ORDER =
        Comparator.comparing(lane -> lane.first, QuotaHolder.PREEMPTION_ORDER);

    private final int queue;

    /** The current candidate; without a cursor, the first holder, which may be no candidate. */
    private QuotaHolder first;

    private @Nullable Cursor cursor;

    Lane(int queue, QuotaHolder first, @Nullable Cursor cursor) {
      this.queue = queue;
      this.first = first;
      this.cursor = cursor;
    }
  }

  private static final Kind[] KINDS = Kind.values();

  private final PreemptionRequest preemptionRequest;
  private final boolean borrowing;
  private final List<CandidateQueue> candidateQueues;
  private final boolean[] dropped;
  private final PriorityQueue<Lane> merged = new PriorityQueue<>(Lane.ORDER);
  private int phase = -1;
  private @Nullable Lane current;

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
    this.candidateQueues = candidateQueues;
    this.dropped = new boolean[candidateQueues.size()];
  }

  /** The next candidate; null at the end. */
  @Nullable Candidate next() {
    Lane last = current;
    current = null;
    if (last != null && last.cursor != null) {
      last.cursor.advance();
      add(last, last.cursor);
    }
    while (true) {
      Lane lane = merged.poll();
      if (lane == null) {
        if (!nextPhase()) {
          return null;
        }
      } else if (lane.cursor == null) {
        open(lane);
      } else {
        current = lane;
        return new Candidate(lane.first, candidateQueues.get(lane.queue));
      }
    }
  }

  /**
   * Skips the remaining candidates of the last candidate's queue, which doesn't borrow any more.
   */
  void drop() {
    if (current != null) {
      dropped[current.queue] = true;
      current = null;
    }
  }

  private void open(Lane lane) {
    Cursor cursor =
        candidateQueues.get(lane.queue).candidates(preemptionRequest, isEvicted(), borrowing);
    lane.cursor = cursor;
    add(lane, cursor);
  }

  private void add(Lane lane, Cursor cursor) {
    QuotaHolder first = cursor.current();
    if (first != null) {
      lane.first = first;
      merged.add(lane);
    }
  }

  private boolean isEvicted() {
    return phase < KINDS.length;
  }

  private boolean nextPhase() {
    phase++;
    if (phase >= 2 * KINDS.length) {
      return false;
    }
    boolean evicted = isEvicted();
    Kind kind = KINDS[phase % KINDS.length];
    for (int i = 0; i < dropped.length; i++) {
      CandidateQueue candidateQueue = candidateQueues.get(i);
      if (!dropped[i]
          && candidateQueue.kind() == kind
          && candidateQueue.mayHaveCandidates(preemptionRequest, evicted, borrowing)) {
        QuotaHolder first = candidateQueue.queue().holders().firstOfOnlyGroup(evicted);
        if (first != null) {
          merged.add(new Lane(i, first, null));
        } else {
          Cursor cursor = candidateQueue.candidates(preemptionRequest, evicted, borrowing);
          if (cursor.current() != null) {
            merged.add(new Lane(i, cursor.current(), cursor));
          }
        }
      }
    }
    return true;
  }
}
