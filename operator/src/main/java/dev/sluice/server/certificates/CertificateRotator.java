package dev.sluice.server.certificates;

import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.server.certificates.ServerKeys.CertificateSource;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Refreshes a certificate source when it is asked to, and periodically, until closed. */
public final class CertificateRotator implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(CertificateRotator.class);

  private static final Duration FIRST_INTERVAL = Duration.ofSeconds(1);

  /** Changes that come together, as those of an installation do, are looked at once. */
  private static final Duration SOON = Duration.ofMillis(500);

  /**
   * The time between two refreshes that are asked for, and after one that failed: a refresh that
   * writes is asked for by its own writes, and another writer may undo them for ever.
   */
  private static final Duration APART = Duration.ofSeconds(10);

  private final CertificateSource source;
  private final Duration interval;
  private final Duration apart;
  private final ScheduledExecutorService timer;
  private final CompletableFuture<Void> first = new CompletableFuture<>();
  private volatile boolean ready;
  private String lastError = "";

  /** The refresh that is due next; guarded by this object, like the fields below. */
  private @Nullable Future<?> next;

  private boolean asked;
  private long begun;

  /**
   * Refreshes the source once before it returns, then once per interval, ten seconds after a
   * failure, and every second until there is a usable certificate.
   *
   * @param interval time between two refreshes
   */
  public CertificateRotator(CertificateSource source, Duration interval) {
    this(source, interval, APART);
  }

  /** Such a rotator with another time between two refreshes that are asked for. */
  CertificateRotator(CertificateSource source, Duration interval, Duration apart) {
    this.source = source;
    this.apart = apart;
    this.timer =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("certificates").factory());
    this.interval = interval;
    refreshAndSchedule();
  }

  private void refreshAndSchedule() {
    synchronized (this) {
      asked = false;
      begun = System.nanoTime();
    }
    boolean isRefreshed = refresh();
    synchronized (this) {
      if (!asked) {
        schedule(isRefreshed ? interval : shorter(ready ? apart : FIRST_INTERVAL, interval));
      }
    }
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  /** Called with the lock of this object. */
  private void schedule(Duration pause) {
    if (next != null) {
      next.cancel(false);
    }
    try {
      next = timer.schedule(this::refreshAndSchedule, pause.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      log.debug("certificate refreshed=false reason=\"closed\"");
    }
  }

  /** Completes when a usable certificate exists for the first time. */
  public CompletableFuture<Void> whenReady() {
    return first.copy();
  }

  /**
   * Whether a usable certificate has existed at any time. From then on one is in use, which may
   * have ended since.
   */
  public boolean isReady() {
    return ready;
  }

  /**
   * Refreshes the source once more, soon, and ten seconds after the last refresh began at the
   * earliest; once for any number of calls meanwhile. The regular refreshes go on.
   */
  public synchronized void refreshSoon() {
    if (!asked) {
      asked = true;
      Duration left = apart.minusNanos(System.nanoTime() - begun);
      schedule(ready && left.compareTo(SOON) > 0 ? left : SOON);
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
