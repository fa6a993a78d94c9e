package dev.sluice.server;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks after a certificate source again and again until closed. */
public final class CertificateRotator implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(CertificateRotator.class);

  private final CertificateSource source;
  private final ScheduledExecutorService timer;
  private final CompletableFuture<Void> first = new CompletableFuture<>();
  private volatile boolean ready;
  private String complaint = "";

  /**
   * Looks at the source once before it returns, then in every interval.
   *
   * @param interval between two looks
   */
  public CertificateRotator(CertificateSource source, Duration interval) {
    this.source = source;
    this.timer =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("certificates").factory());
    refresh();
    timer.scheduleWithFixedDelay(
        this::refresh, interval.toMillis(), interval.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Completes when there is a usable certificate for the first time. */
  public CompletableFuture<Void> whenReady() {
    return first.copy();
  }

  /** Whether there was a usable certificate at any time; from then on there always is one. */
  public boolean isReady() {
    return ready;
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }

  /** The same complaint is logged once, however often it comes. */
  private void refresh() {
    try {
      source.refresh();
      ready = true;
      first.complete(null);
      complaint = "";
    } catch (GeneralSecurityException | IOException | RuntimeException e) {
      String message = String.valueOf(e.getMessage());
      if (!message.equals(complaint)) {
        complaint = message;
        log.warn("certificate ready={} reason=\"{}\"", ready, message);
      }
    }
  }
}
