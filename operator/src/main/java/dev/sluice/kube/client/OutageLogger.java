package dev.sluice.kube.client;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells of a stretch of failures once at its beginning and once at its end. */
public final class OutageLogger {

  private static final Logger LOG = LoggerFactory.getLogger(OutageLogger.class);

  private final InstantSource clock;
  private Optional<Instant> since = Optional.empty();
  private int failures;

  public OutageLogger(InstantSource clock) {
    this.clock = clock;
  }

  public synchronized void failed(Exception cause) {
    failures++;
    if (since.isEmpty()) {
      since = Optional.of(clock.instant());
      LOG.warn("workloads reading=interrupted cause=\"{}\"", cause.toString());
    }
  }

  public synchronized void over() {
    since.ifPresent(
        begin ->
            LOG.info(
                "workloads reading=resumed failures={} after={}s",
                failures,
                Duration.between(begin, clock.instant()).toSeconds()));
    since = Optional.empty();
    failures = 0;
  }
}
