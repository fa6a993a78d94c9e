package dev.sluice.app.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import dev.sluice.workload.writing.DecisionExecutor.DecisionLog;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.slf4j.LoggerFactory;

/** Sets how much is logged, and how it is written: by the flags of the command line. */
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
   * Does what the flags say. Nothing changes if one of them has a value that isn't known.
   *
   * @param word the value of {@code --log-level}
   */
  public static void apply(Optional<String> word, ZapOptions zap)
      throws ZapOptions.InvalidValueException {
    Optional<Level> level = zap.level();
    Optional<LogEncoder> encoder = zap.encoder();
    if (word.isPresent() && level.isPresent()) {
      throw new ZapOptions.InvalidValueException(
          "--log-level", word.get(), "to be combined with --zap-log-level or --zap-devel");
    }
    String own = word.orElse(level.map(Level::toString).orElse("info"));
    if (!set(own)) {
      throw new ZapOptions.InvalidValueException("--log-level", own, ALLOWED);
    }
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
      encoder.ifPresent(chosen -> write(context, chosen));
    }
  }

  /** Has all entries of a logging system written by {@code encoder}. */
  static void write(LoggerContext context, LogEncoder encoder) {
    encoder.setContext(context);
    encoder.start();
    context
        .getLogger(Logger.ROOT_LOGGER_NAME)
        .iteratorForAppenders()
        .forEachRemaining(
            appender -> {
              if (appender instanceof OutputStreamAppender<ILoggingEvent> stream) {
                stream.setEncoder(encoder);
              }
            });
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
