package dev.sluice.endtoend;

import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Asks API server and operator all the time, by the dry run of a Job that both have to look at, and
 * remembers when they took long to answer: then the machine, and not the operator's waiting, says
 * how long something takes. Thread-safe.
 */
final class AnswerTimes implements AutoCloseable {

  private static final Duration PAUSE = Duration.ofMillis(100);

  /** An answer that takes longer is slow from then on. */
  private static final Duration USUAL = Duration.ofMillis(150);

  private final KubernetesClient client;
  private final Job job;
  private final InstantSource clock;
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final Future<?> asking;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Slow> slow = new ArrayList<>();
  private Instant asked;

  /** A time in which an answer was waited for longer than usual. */
  private record Slow(Instant since, Instant until) {}

  /** Asks from now on with this Job, which is never created. */
  AnswerTimes(KubernetesClient client, Job job, InstantSource clock) {
    this.client = client;
    this.job = job;
    this.clock = clock;
    this.asked = clock.instant();
    this.asking =
        timer.scheduleWithFixedDelay(this::ask, 0, PAUSE.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void ask() {
    try {
      client.resource(job).dryRun().create();
    } catch (KubernetesClientException e) {
      // An answer as well.
    }
    lock.lock();
    try {
      Instant now = clock.instant();
      // From one answer to the next: a process that doesn't run asks late.
      Instant due = asked.plus(PAUSE).plus(USUAL);
      if (now.isAfter(due)) {
        slow.add(new Slow(due, now));
      }
      asked = now;
    } finally {
      lock.unlock();
    }
  }

  /** How much of a time answers came as usual. */
  Duration usual(Instant since, Instant until) {
    lock.lock();
    try {
      Duration left = Duration.between(since, until);
      for (Slow each : slow) {
        Instant from = each.since().isAfter(since) ? each.since() : since;
        Instant to = each.until().isBefore(until) ? each.until() : until;
        if (from.isBefore(to)) {
          left = left.minus(Duration.between(from, to));
        }
      }
      return left;
    } finally {
      lock.unlock();
    }
  }

  /** How long answers were slow altogether. */
  Duration slow() {
    lock.lock();
    try {
      return slow.stream()
          .map(each -> Duration.between(each.since(), each.until()))
          .reduce(Duration.ZERO, Duration::plus);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    asking.cancel(true);
    timer.shutdownNow();
  }
}
