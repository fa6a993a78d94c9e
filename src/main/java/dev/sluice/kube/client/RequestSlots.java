package dev.sluice.kube.client;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** Starts tasks in their order, only so many at a time, without blocking a thread. */
final class RequestSlots {

  private final int atATime;
  private final Deque<Runnable> waiting = new ArrayDeque<>();
  private final AtomicInteger calls = new AtomicInteger();
  private int taken;

  RequestSlots(int atATime) {
    this.atATime = atATime;
  }

  /** Runs the task as soon as a slot is free; the task keeps the slot until {@link #release}. */
  void submit(Runnable task) {
    synchronized (this) {
      waiting.add(task);
    }
    startPermitted();
  }

  /** Gives one slot back. */
  void release() {
    synchronized (this) {
      taken--;
    }
    startPermitted();
  }

  /** One thread at a time starts tasks, so that tasks that end at once do not fill the stack. */
  private void startPermitted() {
    if (calls.getAndIncrement() != 0) {
      return;
    }
    int seen = 1;
    do {
      for (Optional<Runnable> next = next(); next.isPresent(); next = next()) {
        next.get().run();
      }
      seen = calls.addAndGet(-seen);
    } while (seen != 0);
  }

  private synchronized Optional<Runnable> next() {
    if (taken >= atATime || waiting.isEmpty()) {
      return Optional.empty();
    }
    taken++;
    return Optional.of(waiting.remove());
  }
}
