package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.scheduling.preemption.CandidateQueue.Cursor;
import org.jspecify.annotations.Nullable;

/** The candidates of one queue, one after the other: those being evicted first. */
final class CandidateIterator {

  private final CandidateQueue candidateQueue;
  private @Nullable Cursor evicted;
  private @Nullable Cursor staying;
  private @Nullable QuotaHolder only;

  private CandidateIterator(
      CandidateQueue candidateQueue,
      @Nullable Cursor evicted,
      @Nullable Cursor staying,
      @Nullable QuotaHolder only) {
    this.candidateQueue = candidateQueue;
    this.evicted = evicted;
    this.staying = staying;
    this.only = only;
  }

  /** All that the preemptor's policies allow. */
  static CandidateIterator of(CandidateQueue candidateQueue, PreemptionRequest preemptionRequest) {
    return new CandidateIterator(
        candidateQueue,
        candidateQueue.candidates(preemptionRequest, true, false),
        candidateQueue.candidates(preemptionRequest, false, false),
        null);
  }

  /** A single one. */
  static CandidateIterator of(CandidateQueue candidateQueue, QuotaHolder only) {
    return new CandidateIterator(candidateQueue, null, null, only);
  }

  CandidateQueue source() {
    return candidateQueue;
  }

  /** The one whose turn it is; null at the end. */
  @Nullable QuotaHolder first() {
    if (evicted != null && evicted.current() != null) {
      return evicted.current();
    }
    return staying == null ? only : staying.current();
  }

  /** The next one, please. */
  void advance() {
    if (evicted != null && evicted.current() != null) {
      evicted.advance();
    } else if (staying != null) {
      staying.advance();
    } else {
      only = null;
    }
  }

  /** No more of them. */
  void close() {
    evicted = null;
    staying = null;
    only = null;
  }
}
