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

/** The token of one connection, asked for again shortly before it expires. From any thread. */
final class ExecCredentialToken implements OAuthTokenProvider {

  private static final Logger LOG = LoggerFactory.getLogger(ExecCredentialToken.class);
  private static final Duration BEFORE = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofSeconds(10);

  private final ExecPlugin plugin;
  private final ExecCredentialProvider logins;
  private final InstantSource wallClock;
  private final ReentrantLock lock = new ReentrantLock();
  private ExecCredentialProvider.Login login;
  private Instant asked;

  /** With what a program gave just now. */
  ExecCredentialToken(
      ExecPlugin plugin,
      ExecCredentialProvider logins,
      ExecCredentialProvider.Login first,
      InstantSource wallClock) {
    this.plugin = plugin;
    this.logins = logins;
    this.login = first;
    this.wallClock = wallClock;
    this.asked = wallClock.instant();
  }

  @Override
  public String getToken() {
    lock.lock();
    try {
      Instant now = wallClock.instant();
      boolean old = login.expires().filter(end -> now.isAfter(end.minus(BEFORE))).isPresent();
      if (old && now.isAfter(asked.plus(PAUSE))) {
        asked = now;
        renew();
      }
      return login.token().orElse("");
    } finally {
      lock.unlock();
    }
  }

  /** Whoever fails goes on with the old one: that it isn't good any more the worker will say. */
  private void renew() {
    try {
      login = logins.run(plugin);
    } catch (IOException e) {
      LOG.warn("login=failed reason=\"{}\"", e.getMessage());
    }
  }
}
