package dev.sluice.server.http;

import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Memory budget that the bodies of all requests share. A request that exceeds the free budget
 * waits. The last quarter is reserved for small bodies, and a small body without room closes the
 * connection of the largest body that is still being transferred: a client that fills the budget
 * and stalls loses its connection first, and a review of usual size always finds room.
 */
final class BodyBudget {

  /** Bodies up to this many bytes are small. */
  static final int SMALL = 256 * 1024;

  private final long capacity;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Set<Share> shares = new HashSet<>();
  private long used;

  BodyBudget(long capacity) {
    this.capacity = capacity;
  }

  /** How many bytes are in use. */
  long used() {
    lock.lock();
    try {
      return used;
    } finally {
      lock.unlock();
    }
  }

  /** Opens an empty share for the request of the current thread. */
  Share open() {
    Share share = new Share(Thread.currentThread());
    lock.lock();
    try {
      shares.add(share);
      return share;
    } finally {
      lock.unlock();
    }
  }

  /** The bytes of one request. Used by the thread that opened it only, except {@link #cut}. */
  final class Share implements AutoCloseable {

    private final Thread owner;
    private long held;
    private boolean transfers = true;
    private boolean cut;

    private Share(Thread owner) {
      this.owner = owner;
    }

    /**
     * Takes more bytes.
     *
     * @param timeout the longest time to wait
     * @throws OverloadException when the bytes are not available in time, or exceed the budget
     * @throws IOException when this share was cut meanwhile
     */
    void take(long bytes, Duration timeout) throws IOException {
      lock.lock();
      try {
        long wanted = held + bytes;
        long left = timeout.toNanos();
        while (used + bytes > (wanted > SMALL ? capacity - capacity / 4 : capacity)) {
          requireUncut();
          if (wanted <= SMALL) {
            cutLargest(wanted);
          }
          if (left <= 0) {
            throw new OverloadException("too many bodies at a time");
          }
          left = changed.awaitNanos(left);
        }
        requireUncut();
        used += bytes;
        held = wanted;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("cut off while waiting", e);
      } finally {
        lock.unlock();
      }
    }

    /** Sets whether the body is being transferred; otherwise the response is being computed. */
    void transfers(boolean now) throws IOException {
      lock.lock();
      try {
        requireUncut();
        transfers = now;
      } finally {
        lock.unlock();
      }
    }

    /**
     * Ends the transfer by closing its connection. Has no effect while the response is being
     * computed.
     */
    void cut() {
      lock.lock();
      try {
        if (transfers && !cut && shares.contains(this)) {
          cut = true;
          owner.interrupt();
        }
      } finally {
        lock.unlock();
      }
    }

    private void requireUncut() throws IOException {
      if (cut) {
        throw new IOException("the transfer was cut off");
      }
    }

    /** Returns all bytes to the budget. */
    @Override
    public void close() {
      lock.lock();
      try {
        if (shares.remove(this)) {
          used -= held;
          changed.signalAll();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * Cuts one share at a time: the next one is cut only if the bytes of the first do not suffice.
   */
  private void cutLargest(long atLeast) {
    if (shares.stream().noneMatch(share -> share.cut)) {
      shares.stream()
          .filter(share -> share.transfers && share.held > atLeast)
          .max(Comparator.comparingLong(share -> share.held))
          .ifPresent(Share::cut);
    }
  }

  /** Thrown when a request cannot be served because other requests use the resources. */
  static final class OverloadException extends IOException {

    private static final long serialVersionUID = 1L;

    OverloadException(String message) {
      super(message);
    }
  }
}
