package dev.sluice.core.queue;

/**
 * Usage over time of a LocalQueue, as the order of admission compares it: less usage comes first.
 * The value is mutable; a caller that changes it must notify the queues that are ordered by it.
 * Confined to the scheduler thread.
 */
public final class LocalQueueUsage implements Comparable<LocalQueueUsage> {

  private double amount;

  /** The usage; 0 without admission fair sharing, never negative, possibly infinite. */
  public double amount() {
    return amount;
  }

  /** Sets the usage. */
  public void amount(double used) {
    amount = used;
  }

  /** Compares by usage; two LocalQueues with equal usage are not necessarily the same. */
  @Override
  public int compareTo(LocalQueueUsage other) {
    return Double.compare(amount, other.amount);
  }
}
