package dev.sluice.app.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.spi.ContextAwareBase;
import dev.sluice.app.log.ZapOptions.TimeEncoding;
import java.util.Map;

/**
 * How the program logs unless it is told otherwise: one line per entry to the standard error
 * stream, {@code key=value}, time first; an exception with its stack trace from {@code ERROR} on,
 * below that with its message only. Libraries speak when something is wrong.
 *
 * <p>It is code and no file, because a file needs an XML parser and three hundred classes of a
 * reader, which stay in the memory of the process. A file named by the system property {@code
 * logback.configurationFile}, and {@code logback-test.xml} on the class path, go before it.
 */
public final class LogConfigurator extends ContextAwareBase implements Configurator {

  /** Libraries whose warnings say nothing to an operator of a cluster. */
  private static final Map<String, Level> LIBRARIES =
      Map.of(
          "io.fabric8.kubernetes.client.dsl.internal.VersionUsageUtils",
          Level.ERROR,
          // Its exceptions say the same, and the ledger logs these once. The rest is of an H2 that
          // is newer than the one that Flyway was tested with: the tests of the ledger run with it.
          "org.flywaydb",
          Level.OFF,
          // Warns of a slow machine, with stack traces.
          "io.vertx.core.impl.BlockedThreadChecker",
          Level.ERROR);

  @Override
  public ExecutionStatus configure(LoggerContext loggerContext) {
    if (System.getProperty("logback.configurationFile") != null
        || LogConfigurator.class.getResource("/logback-test.xml") != null) {
      return ExecutionStatus.INVOKE_NEXT_IF_ANY;
    }
    shipped(loggerContext);
    return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
  }

  /** Sets up the loggers as they are shipped. */
  static void shipped(LoggerContext loggerContext) {
    LogEncoder encoder = new LogEncoder(false, TimeEncoding.ISO8601, Level.ERROR);
    encoder.setContext(loggerContext);
    encoder.start();
    ConsoleAppender<ILoggingEvent> lines = new ConsoleAppender<>();
    lines.setContext(loggerContext);
    lines.setName("lines");
    lines.setTarget("System.err");
    lines.setEncoder(encoder);
    lines.start();
    Logger root = loggerContext.getLogger(Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.WARN);
    root.addAppender(lines);
    LIBRARIES.forEach((name, level) -> loggerContext.getLogger(name).setLevel(level));
    loggerContext
        .getLogger("dev.sluice")
        .setLevel(Level.toLevel(System.getProperty("sluice.log.level"), Level.INFO));
  }
}
