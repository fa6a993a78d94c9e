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

/** Refreshes a certificate source periodically until closed. */
public final class CertificateRotator implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(CertificateRotator.class);

  private final CertificateSource source;
  private final ScheduledExecutorService timer;
  private final CompletableFuture<Void> first = new CompletableFuture<>();
  private volatile boolean ready;
  private String lastError = "";

  /**
   * Refreshes the source once before it returns, then once per interval.
   *
   * @param interval time between two refreshes
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

  /** Completes when a usable certificate exists for the first time. */
  public CompletableFuture<Void> whenReady() {
    return first.copy();
  }

  /** Whether a usable certificate has existed at any time; from then on one always exists. */
  public boolean isReady() {
    return ready;
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }

  /** Repeated equal errors are logged once. */
  private void refresh() {
    try {
      source.refresh();
      ready = true;
      first.complete(null);
      lastError = "";
    } catch (GeneralSecurityException | IOException | RuntimeException e) {
      String message = String.valueOf(e.getMessage());
      if (!message.equals(lastError)) {
        lastError = message;
        log.warn("certificate ready={} reason=\"{}\"", ready, message);
      }
    }
  }
}
