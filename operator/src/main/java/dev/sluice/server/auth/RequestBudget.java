package dev.sluice.server.auth;

import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.server.http.OverBudgetException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * What each of many may ask for per second, and all of them together. Of those who asked last a
 * bounded number is remembered. Thread-safe.
 */
public final class RequestBudget {

  private static final int REMEMBERED = 1024;
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

  private final String what;
  private final double perSecond;
  private final int burst;
  private final LongSupplier nanoTime;
  private final RequestLimiter together;
  private final Map<String, RequestLimiter> each =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, RequestLimiter> eldest) {
          return size() > REMEMBERED;
        }
      };

  /**
   * A budget of which nothing is used.
   *
   * @param what what is asked for, as in "too many …"
   * @param perSecond of one, in the long run
   * @param burst of one, after a quiet time
   * @param together per second of all, in the long run and after a quiet time; 0 for no limit
   * @param clock measures the time
   */
  public RequestBudget(
      String what, double perSecond, int burst, int together, InstantSource clock) {
    this.what = what;
    this.perSecond = perSecond;
    this.burst = burst;
    this.nanoTime = () -> TimeUnit.MILLISECONDS.toNanos(clock.millis());
    this.together = new RequestLimiter(together, together, nanoTime);
  }

  /**
   * Takes one for somebody.
   *
   * @throws OverBudgetException when they, or all together, have asked for too much
   */
  public synchronized void take(String whose) {
    RequestLimiter own =
        each.computeIfAbsent(whose, any -> new RequestLimiter(perSecond, burst, nanoTime));
    Duration wait = own.tryTake();
    if (wait.isZero()) {
      wait = together.tryTake();
    }
    if (!wait.isZero()) {
      throw new OverBudgetException(
          "too many " + what, wait.compareTo(LONGEST_WAIT) < 0 ? wait : LONGEST_WAIT);
    }
  }
}
