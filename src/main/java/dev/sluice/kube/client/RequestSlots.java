package dev.sluice.kube.client;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts tasks in their order, only so many at a time, without blocking a thread. */
final class RequestSlots {

  private static final Logger LOG = LoggerFactory.getLogger(RequestSlots.class);

  private final int atATime;
  private final Deque<Consumer<Slot>> waiting = new ArrayDeque<>();
  private final AtomicInteger calls = new AtomicInteger();
  private int taken;

  RequestSlots(int atATime) {
    this.atATime = atATime;
  }

  /** One slot, held by one task. */
  final class Slot {

    private final AtomicBoolean held = new AtomicBoolean(true);

    /** Gives the slot back; further calls do nothing. */
    void release() {
      if (held.getAndSet(false)) {
        released();
        startPermitted();
      }
    }
  }

  /**
   * Runs the task as soon as a slot is free. The task keeps the slot until {@link Slot#release}, or
   * until it throws.
   */
  void submit(Consumer<Slot> task) {
    synchronized (this) {
      waiting.add(task);
    }
    startPermitted();
  }

  private synchronized void released() {
    taken--;
  }

  /** One thread at a time starts tasks, so that tasks that end at once do not fill the stack. */
  private void startPermitted() {
    if (calls.getAndIncrement() != 0) {
      return;
    }
    int seen = 1;
    do {
      for (Optional<Consumer<Slot>> next = next(); next.isPresent(); next = next()) {
        run(next.get());
      }
      seen = calls.addAndGet(-seen);
    } while (seen != 0);
  }

  /** An error of one task must not keep the others from being started. */
  private void run(Consumer<Slot> task) {
    Slot slot = new Slot();
    try {
      task.accept(slot);
    } catch (Throwable e) {
      LOG.error("request result=failed", e);
      slot.release();
    }
  }

  private synchronized Optional<Consumer<Slot>> next() {
    if (taken >= atATime || waiting.isEmpty()) {
      return Optional.empty();
    }
    taken++;
    return Optional.of(waiting.remove());
  }
}
