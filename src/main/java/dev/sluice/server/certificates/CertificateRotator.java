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
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Refreshes a certificate source when it is asked to, and periodically, until closed. */
public final class CertificateRotator implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(CertificateRotator.class);

  private static final Duration FIRST_INTERVAL = Duration.ofSeconds(1);
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(10);

  /** Changes that come together, as those of an installation do, are looked at once. */
  private static final Duration SOON = Duration.ofMillis(500);

  private final CertificateSource source;
  private final Duration interval;
  private final ScheduledExecutorService timer;
  private final CompletableFuture<Void> first = new CompletableFuture<>();
  private final AtomicBoolean asked = new AtomicBoolean();
  private volatile boolean ready;
  private String lastError = "";

  /**
   * Refreshes the source once before it returns, then once per interval, ten seconds after a
   * failure, and every second until there is a usable certificate.
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
    boolean isRefreshed = refresh();
    schedule(this::refreshAndSchedule, shorter(pauseAfter(isRefreshed), interval));
  }

  private Duration pauseAfter(boolean isRefreshed) {
    return isRefreshed ? interval : ready ? AFTER_FAILURE : FIRST_INTERVAL;
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  private void schedule(Runnable action, Duration pause) {
    try {
      var unused = timer.schedule(action, pause.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      log.debug("certificate refreshed=false reason=\"closed\"");
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

  /**
   * Refreshes the source once more within a second, once for any number of calls meanwhile; the
   * regular refreshes go on. A refresh that fails is tried again.
   */
  public void refreshSoon() {
    if (!asked.getAndSet(true)) {
      schedule(this::refreshAsAsked, SOON);
    }
  }

  private void refreshAsAsked() {
    asked.set(false);
    if (!refresh() && !asked.getAndSet(true)) {
      schedule(this::refreshAsAsked, AFTER_FAILURE);
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }

  /** Repeated equal errors are logged once. */
  private boolean refresh() {
    try {
      source.refresh();
      ready = true;
      first.complete(null);
      lastError = "";
      return true;
    } catch (GeneralSecurityException | IOException | RuntimeException e) {
      String message = ApiErrorText.of(e);
      if (!message.equals(lastError)) {
        lastError = message;
        log.warn("certificate ready={} reason=\"{}\"", ready, message);
      }
      return false;
    }
  }
}
