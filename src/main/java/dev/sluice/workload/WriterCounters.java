package dev.sluice.workload;

import dev.sluice.workload.WorkloadWriter.Outcome;
import java.util.concurrent.atomic.LongAdder;

/** What the writer did since it started; read by metrics. */
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

  /** Writes that stand. */
  public long written() {
    return written.sum();
  }

  /** Writes whose object had moved on. */
  public long conflicts() {
    return conflicts.sum();
  }

  /** Writes whose object was gone. */
  public long gone() {
    return gone.sum();
  }

  /** Writes that the API server refused. */
  public long refused() {
    return refused.sum();
  }

  /** Repetitions after failures. */
  public long retries() {
    return retries.sum();
  }

  /** Reads to find out what became of a write. */
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
