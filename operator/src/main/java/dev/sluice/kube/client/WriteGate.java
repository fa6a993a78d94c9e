package dev.sluice.kube.client;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Decides for several clients whether a write may be sent, and counts the writes in flight. A lease
 * is released only after the gate was closed and no write is in flight any more. From any thread.
 */
public final class WriteGate {

  private final BooleanSupplier condition;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition idle = lock.newCondition();
  private int inFlight;
  private boolean closed;

  /**
   * A gate that is not closed.
   *
   * @param condition is asked at the moment when a write is sent, such as whether this process
   *     leads
   */
  public WriteGate(BooleanSupplier condition) {
    this.condition = condition;
  }

  /** A gate that lets every write through until it is closed. */
  public static WriteGate open() {
    return new WriteGate(() -> true);
  }

  /** Whether a write may be sent now; if so, {@link #exit} has to be called after its end. */
  boolean enter() {
    lock.lock();
    try {
      if (closed || !condition.getAsBoolean()) {
        return false;
      }
      inFlight++;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** A write has ended. */
  void exit() {
    lock.lock();
    try {
      inFlight--;
      if (inFlight == 0) {
        idle.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Lets no write through from now on, and waits until those in flight have ended.
   *
   * @param limit the longest wait
   * @return whether no write is in flight any more
   */
  public boolean close(Duration limit) {
    long left = limit.toNanos();
    lock.lock();
    try {
      closed = true;
      while (inFlight > 0 && left > 0) {
        left = idle.awaitNanos(left);
      }
      return inFlight == 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }
}
