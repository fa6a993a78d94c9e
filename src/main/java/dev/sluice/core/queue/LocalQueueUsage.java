package dev.sluice.core.queue;

/**
 * How much a LocalQueue used over time, as far as that orders admission: less comes first. It
 * changes; whoever changes it tells the queue whose order rests on it. Confined to the engine's
 * thread.
 */
public final class LocalQueueUsage implements Comparable<LocalQueueUsage> {

  private double amount;

  /** How much it used; 0 while use doesn't count, never negative, possibly infinite. */
  public double amount() {
    return amount;
  }

  /** Sets how much it used. */
  public void amount(double used) {
    amount = used;
  }

  /** Who used less is less; two that are equal in that need not be the same. */
  @Override
  public int compareTo(LocalQueueUsage other) {
    return Double.compare(amount, other.amount);
  }
}
