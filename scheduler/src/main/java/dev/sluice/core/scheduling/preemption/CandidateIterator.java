package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.scheduling.preemption.CandidateQueue.Cursor;
import org.jspecify.annotations.Nullable;

/** Iterates over the candidates of one queue: Workloads that are being evicted first. */
final class CandidateIterator {

  private final CandidateQueue candidateQueue;
  private @Nullable Cursor evicted;
  private @Nullable Cursor notEvicted;
  private @Nullable QuotaHolder only;

  private CandidateIterator(
      CandidateQueue candidateQueue,
      @Nullable Cursor evicted,
      @Nullable Cursor notEvicted,
      @Nullable QuotaHolder only) {
    this.candidateQueue = candidateQueue;
    this.evicted = evicted;
    this.notEvicted = notEvicted;
    this.only = only;
  }

  /** All candidates that the preemptor's policies allow. */
  static CandidateIterator of(CandidateQueue candidateQueue, PreemptionRequest preemptionRequest) {
    return new CandidateIterator(
        candidateQueue,
        candidateQueue.candidates(preemptionRequest, true, false),
        candidateQueue.candidates(preemptionRequest, false, false),
        null);
  }

  /** A single candidate. */
  static CandidateIterator of(CandidateQueue candidateQueue, QuotaHolder only) {
    return new CandidateIterator(candidateQueue, null, null, only);
  }

  CandidateQueue source() {
    return candidateQueue;
  }

  /** The current candidate; null at the end. */
  @Nullable QuotaHolder first() {
    if (evicted != null && evicted.current() != null) {
      return evicted.current();
    }
    return notEvicted == null ? only : notEvicted.current();
  }

  /** Moves to the next candidate. */
  void advance() {
    if (evicted != null && evicted.current() != null) {
      evicted.advance();
    } else if (notEvicted != null) {
      notEvicted.advance();
    } else {
      only = null;
    }
  }

  /** Skips all remaining candidates. */
  void close() {
    evicted = null;
    notEvicted = null;
    only = null;
  }
}
