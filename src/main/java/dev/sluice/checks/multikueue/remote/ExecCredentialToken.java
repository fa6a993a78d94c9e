package dev.sluice.checks.multikueue.remote;

import dev.sluice.checks.multikueue.access.ExecPlugin;
import io.fabric8.kubernetes.client.OAuthTokenProvider;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The token of one connection; runs the login program again shortly before the token expires.
 * Thread-safe.
 */
final class ExecCredentialToken implements OAuthTokenProvider {

  private static final Logger LOG = LoggerFactory.getLogger(ExecCredentialToken.class);
  private static final Duration RENEW_BEFORE_EXPIRY = Duration.ofSeconds(60);
  private static final Duration RETRY_PAUSE = Duration.ofSeconds(10);

  private final ExecPlugin plugin;
  private final ExecCredentialProvider logins;
  private final InstantSource wallClock;
  private final ReentrantLock lock = new ReentrantLock();
  private ExecCredentialProvider.Login login;
  private Instant lastAttempt;

  /** Starts with a token that the program just returned. */
  ExecCredentialToken(
      ExecPlugin plugin,
      ExecCredentialProvider logins,
      ExecCredentialProvider.Login first,
      InstantSource wallClock) {
    this.plugin = plugin;
    this.logins = logins;
    this.login = first;
    this.wallClock = wallClock;
    this.lastAttempt = wallClock.instant();
  }

  @Override
  public String getToken() {
    lock.lock();
    try {
      Instant now = wallClock.instant();
      boolean old =
          login.expires().filter(end -> now.isAfter(end.minus(RENEW_BEFORE_EXPIRY))).isPresent();
      if (old && now.isAfter(lastAttempt.plus(RETRY_PAUSE))) {
        lastAttempt = now;
        renew();
      }
      return login.token().orElse("");
    } finally {
      lock.unlock();
    }
  }

  /**
   * After a failed renewal the old token stays in use; the worker rejects it once it is invalid.
   */
  private void renew() {
    try {
      login = logins.run(plugin);
    } catch (IOException e) {
      LOG.warn("login=failed reason=\"{}\"", e.getMessage());
    }
  }
}
