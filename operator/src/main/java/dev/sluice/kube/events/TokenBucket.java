package dev.sluice.kube.events;

import java.time.Duration;
import java.time.Instant;

/** Tokens that come at a rate up to a number; each permits one write. Not thread-safe. */
final class TokenBucket {

  private static final double NANOS_PER_SECOND = 1e9;

  private final int most;
  private double tokens;
  private Instant filled;

  /** A full bucket. */
  TokenBucket(int most, Instant now) {
    this.most = most;
    this.tokens = most;
    this.filled = now;
  }

  /** Adds what came since the last time, at a rate that may change from one time to the next. */
  void refill(Instant now, double perSecond) {
    double gained = Duration.between(filled, now).toNanos() / NANOS_PER_SECOND * perSecond;
    tokens = Math.min(most, tokens + Math.max(0, gained));
    filled = now;
  }

  /** Whether there is a token. */
  boolean has() {
    return tokens >= 1;
  }

  /** Takes a token, if there is one. */
  boolean take() {
    if (tokens < 1) {
      return false;
    }
    tokens--;
    return true;
  }
}
