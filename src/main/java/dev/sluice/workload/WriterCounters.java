package dev.sluice.workload;

import dev.sluice.workload.WorkloadWriter.Outcome;
import java.util.concurrent.atomic.LongAdder;

/** Counters of the writer since its start; exported as metrics. */
public final class WriterCounters {

  private final LongAdder requests = new LongAdder();
  private final LongAdder written = new LongAdder();
  private final LongAdder conflicts = new LongAdder();
  private final LongAdder gone = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder retries = new LongAdder();
  private final LongAdder readBacks = new LongAdder();

  /** Writes that were sent, repetitions included. */
  public long requests() {
    return requests.sum();
  }

  /** Successful writes. */
  public long written() {
    return written.sum();
  }

  /** Writes that failed with a conflict. */
  public long conflicts() {
    return conflicts.sum();
  }

  /** Writes whose object was deleted. */
  public long gone() {
    return gone.sum();
  }

  /** Writes that the API server rejected. */
  public long refused() {
    return refused.sum();
  }

  /** Retries after failures. */
  public long retries() {
    return retries.sum();
  }

  /** Reads that determine the result of a write. */
  public long readBacks() {
    return readBacks.sum();
  }

  void request() {
    requests.increment();
  }

  void retry() {
    retries.increment();
  }

  void readBack() {
    readBacks.increment();
  }

  void outcome(Outcome outcome) {
    LongAdder counter =
        switch (outcome) {
          case Outcome.Written w -> written;
          case Outcome.Conflict c -> conflicts;
          case Outcome.Gone g -> gone;
          case Outcome.Refused r -> refused;
        };
    counter.increment();
  }
}
