package dev.sluice.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * How long a test waits for a condition when it names no limit. Long, because a machine that is
 * shared can be many times slower than a quiet one, and a condition that holds ends the wait at
 * once. It is looked at without a delay: what holds already costs no time.
 */
public final class WaitLimit implements LauncherSessionListener {

  private static final Duration LIMIT = Duration.ofMinutes(2);

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    Awaitility.setDefaultTimeout(LIMIT);
    Awaitility.setDefaultPollDelay(Duration.ZERO);
  }
}
