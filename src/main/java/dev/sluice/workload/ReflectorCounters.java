package dev.sluice.workload;

import java.util.concurrent.atomic.LongAdder;

/** Counters of the reflector since its start; exported as metrics. */
public final class ReflectorCounters {

  private final LongAdder listings = new LongAdder();
  private final LongAdder watches = new LongAdder();
  private final LongAdder events = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final LongAdder unreadable = new LongAdder();

  /** Started listings. */
  public long listings() {
    return listings.sum();
  }

  /** Opened watches. */
  public long watches() {
    return watches.sum();
  }

  /** Received events, bookmarks included. */
  public long events() {
    return events.sum();
  }

  /** Failed listings and watches. */
  public long failures() {
    return failures.sum();
  }

  /** Objects that could not be parsed; the cache kept their last valid version. */
  public long unreadable() {
    return unreadable.sum();
  }

  void listing() {
    listings.increment();
  }

  void watch() {
    watches.increment();
  }

  void event() {
    events.increment();
  }

  void failure() {
    failures.increment();
  }

  void unreadableObject() {
    unreadable.increment();
  }
}
