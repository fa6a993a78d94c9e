package dev.sluice.server.certificates;

import dev.sluice.kube.client.ApiErrorText;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Refreshes a certificate source periodically until closed. */
public final class CertificateRotator implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(CertificateRotator.class);

  private static final Duration FIRST_INTERVAL = Duration.ofSeconds(1);

  private final CertificateSource source;
  private final Duration interval;
  private final ScheduledExecutorService timer;
  private final CompletableFuture<Void> first = new CompletableFuture<>();
  private volatile boolean ready;
  private String lastError = "";

  /**
   * Refreshes the source once before it returns, then once per interval, and every second until
   * there is a usable certificate.
   *
   * @param interval time between two refreshes
   */
  public CertificateRotator(CertificateSource source, Duration interval) {
    this.source = source;
    this.timer =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("certificates").factory());
    this.interval = interval;
    refreshAndSchedule();
  }

  private void refreshAndSchedule() {
    refresh();
    Duration pause = ready || interval.compareTo(FIRST_INTERVAL) < 0 ? interval : FIRST_INTERVAL;
    if (!timer.isShutdown()) {
      var unused =
          timer.schedule(this::refreshAndSchedule, pause.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  /** Completes when a usable certificate exists for the first time. */
  public CompletableFuture<Void> whenReady() {
    return first.copy();
  }

  /** Whether a usable certificate has existed at any time; from then on one always exists. */
  public boolean isReady() {
    return ready;
  }

  /** Refreshes the source once more, soon; the regular refreshes go on. */
  public void refreshSoon() {
    try {
      timer.execute(this::refresh);
    } catch (RejectedExecutionException e) {
      log.debug("certificate refreshed=false reason=\"closed\"");
    }
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
      String message = ApiErrorText.of(e);
      if (!message.equals(lastError)) {
        lastError = message;
        log.warn("certificate ready={} reason=\"{}\"", ready, message);
      }
    }
  }
}
