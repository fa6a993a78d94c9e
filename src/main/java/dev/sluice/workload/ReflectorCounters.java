package dev.sluice.workload;

import java.util.concurrent.atomic.LongAdder;

/** What the reader did since it started; read by metrics. */
public final class ReflectorCounters {

  private final LongAdder listings = new LongAdder();
  private final LongAdder watches = new LongAdder();
  private final LongAdder events = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final LongAdder unreadable = new LongAdder();

  /** Listings that were begun. */
  public long listings() {
    return listings.sum();
  }

  /** Watches that were opened. */
  public long watches() {
    return watches.sum();
  }

  /** Events that came in, bookmarks included. */
  public long events() {
    return events.sum();
  }

  /** Listings and watches that failed. */
  public long failures() {
    return failures.sum();
  }

  /** Objects that could not be read, and were left as they were known. */
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
