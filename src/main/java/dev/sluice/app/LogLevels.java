package dev.sluice.app;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.sluice.workload.DecisionLog;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.slf4j.LoggerFactory;

/** Sets how much is logged: the word of {@code --log-level}. */
public final class LogLevels {

  /** The words that are understood, for messages and help. */
  public static final String ALLOWED = "error, warn, info, debug or trace";

  private static final String OWN = "dev.sluice";
  private static final Map<String, Level> LEVELS =
      Map.of(
          "error", Level.ERROR,
          "warn", Level.WARN,
          "info", Level.INFO,
          "debug", Level.DEBUG,
          "trace", Level.TRACE);

  private LogLevels() {}

  /**
   * Whether decisions about single Workloads are logged, with the project's other lines or not at
   * all.
   */
  public static void decisions(boolean logged) {
    if (LoggerFactory.getLogger(DecisionLog.NAME) instanceof Logger logger) {
      logger.setLevel(logged ? null : Level.OFF);
    }
  }

  /**
   * Logs the project's own lines from this level on; those of libraries stay at warnings.
   *
   * @return whether the word is one of {@link #ALLOWED}; if not, nothing changes
   */
  public static boolean set(String word) {
    Optional<Level> level = Optional.ofNullable(LEVELS.get(word.toLowerCase(Locale.ROOT)));
    level.ifPresent(
        known -> {
          if (LoggerFactory.getLogger(OWN) instanceof Logger logger) {
            logger.setLevel(known);
          }
        });
    return level.isPresent();
  }
}
