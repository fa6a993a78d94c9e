package dev.sluice.workload.reading;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Callers that wait until a version has been seen. Usable from any thread. */
final class ResourceVersionWaiter {

  private final List<Waiter> waiters = new ArrayList<>();
  private long furthest;

  private record Waiter(long version, CompletableFuture<Void> done) {}

  /** Completes {@code done} when {@code version} is reached; true if it is already. */
  boolean await(long version, long position, CompletableFuture<Void> done) {
    synchronized (this) {
      furthest = Math.max(furthest, position);
      if (furthest < version) {
        waiters.add(new Waiter(version, done));
        return false;
      }
    }
    done.complete(null);
    return true;
  }

  /** Completes all waits up to {@code position}. */
  void advanceTo(long position) {
    List<CompletableFuture<Void>> done = List.of();
    synchronized (this) {
      furthest = Math.max(furthest, position);
      if (!waiters.isEmpty()) {
        done = take(position);
      }
    }
    done.forEach(waiter -> waiter.complete(null));
  }

  private List<CompletableFuture<Void>> take(long position) {
    List<CompletableFuture<Void>> taken = new ArrayList<>();
    for (Iterator<Waiter> each = waiters.iterator(); each.hasNext(); ) {
      Waiter waiter = each.next();
      if (waiter.version() <= position) {
        taken.add(waiter.done());
        each.remove();
      }
    }
    return taken;
  }

  /** Whether any caller waits. */
  synchronized boolean isWaiting() {
    return !waiters.isEmpty();
  }

  /** Fails all waits, because no further version will be seen. */
  void cancel() {
    List<Waiter> all;
    synchronized (this) {
      all = List.copyOf(waiters);
      waiters.clear();
    }
    all.forEach(waiter -> waiter.done().cancel(false));
  }
}
