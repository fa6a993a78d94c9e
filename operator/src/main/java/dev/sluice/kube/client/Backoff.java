package dev.sluice.kube.client;

import java.time.Duration;
import java.util.random.RandomGenerator;

/** Pauses that grow from failure to failure, each scattered so that clients don't beat together. */
public final class Backoff {

  private final Duration first;
  private final Duration longest;
  private final RandomGenerator random;
  private int failures;

  /** Pauses between half of and the whole of {@code first}, doubling up to {@code longest}. */
  public Backoff(Duration first, Duration longest, RandomGenerator random) {
    this.first = first;
    this.longest = longest;
    this.random = random;
  }

  /** The pause after one more failure. */
  public Duration next() {
    long millis = first.toMillis() << Math.min(failures, 20);
    long most = Math.max(1, Math.min(millis, longest.toMillis()));
    failures++;
    return Duration.ofMillis(most / 2 + random.nextLong(most / 2 + 1));
  }

  /** It works again. */
  public void reset() {
    failures = 0;
  }
}
