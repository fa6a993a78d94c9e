package dev.sluice.server;

import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Bytes that the bodies of all requests share. Who needs more than is left waits. The last quarter
 * is for small bodies, and a small body for which there is no room ends the connection of the
 * largest one that is still being transferred: whoever fills the budget and doesn't go on is the
 * first to lose his place, and a review of usual size always finds room.
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

  /** A share for the request of the current thread; nothing is in it yet. */
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

  /** What one request uses. Belongs to the thread that opened it, but for {@link #cut}. */
  final class Share implements AutoCloseable {

    private final Thread owner;
    private long held;
    private boolean transfers = true;
    private boolean cut;

    private Share(Thread owner) {
      this.owner = owner;
    }

    /**
     * Takes so many bytes more.
     *
     * @throws OverloadException when they aren't there in time, or never will be
     * @throws IOException when this share was cut meanwhile
     */
    void take(long bytes, Duration patience) throws IOException {
      lock.lock();
      try {
        long wanted = held + bytes;
        long left = patience.toNanos();
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

    /** Says whether the client is waited for, or the answer is being made. */
    void transfers(boolean now) throws IOException {
      lock.lock();
      try {
        requireUncut();
        transfers = now;
      } finally {
        lock.unlock();
      }
    }

    /** Ends the transfer: its connection closes. Has no effect while the answer is being made. */
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

    /** Gives all bytes back. */
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

  /** One at a time: whether another has to go is seen when this one has gone. */
  private void cutLargest(long atLeast) {
    if (shares.stream().noneMatch(share -> share.cut)) {
      shares.stream()
          .filter(share -> share.transfers && share.held > atLeast)
          .max(Comparator.comparingLong(share -> share.held))
          .ifPresent(Share::cut);
    }
  }
}
