package dev.sluice.workload.reading;

import java.util.concurrent.atomic.LongAdder;

/** Counts what the reflector could not read since its start. */
public final class ReflectorCounters {

  private final LongAdder failures = new LongAdder();
  private final LongAdder unreadable = new LongAdder();

  /** Failed listings and watches. */
  public long failures() {
    return failures.sum();
  }

  /** Objects that could not be parsed; the cache kept their last valid version. */
  public long unreadable() {
    return unreadable.sum();
  }

  void failure() {
    failures.increment();
  }

  void unreadableObject() {
    unreadable.increment();
  }
}
