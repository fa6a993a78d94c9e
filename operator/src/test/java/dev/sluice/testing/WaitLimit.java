package dev.sluice.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.pollinterval.IterativePollInterval;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * How long a test waits for a condition when it names no limit. Long, because a machine that is
 * shared can be many times slower than a quiet one, and a condition that holds ends the wait at
 * once. It is looked at without a delay: what holds already costs no time. Then it is looked at
 * soon again, and less often the longer it takes: each look is a request, and the machine has other
 * tests to serve meanwhile.
 */
public final class WaitLimit implements LauncherSessionListener {

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(40);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(300);

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    Awaitility.setDefaultTimeout(LIMIT);
    Awaitility.setDefaultPollDelay(Duration.ZERO);
    Awaitility.setDefaultPollInterval(IterativePollInterval.iterative(WaitLimit::longer));
  }

  /** The next pause, a quarter longer: a look comes late by a fifth of the wait at most. */
  private static Duration longer(Duration pause) {
    Duration longer = pause.multipliedBy(5).dividedBy(4);
    if (longer.compareTo(FIRST_PAUSE) < 0) {
      return FIRST_PAUSE;
    }
    return longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
  }
}
