package dev.sluice.app.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How the program logs unless it is told otherwise. */
class LogConfiguratorTest {

  private static final Exception FAILURE =
      new UncheckedIOException(new IOException("no route\nto host"));

  @SuppressWarnings("unchecked")
  private static String written(Level level, @Nullable Exception thrown) {
    LoggerContext context = LogLevelsTest.shipped();
    Logger logger = context.getLogger("io.fabric8.Reflector");
    ConsoleAppender<?> lines =
        (ConsoleAppender<?>) context.getLogger(Logger.ROOT_LOGGER_NAME).getAppender("lines");
    LoggingEvent event =
        new LoggingEvent("caller", logger, level, "watch failed", thrown, new Object[0]);
    Encoder<LoggingEvent> encoder = (Encoder<LoggingEvent>) lines.getEncoder();
    String text = new String(encoder.encode(event), StandardCharsets.UTF_8);
    context.stop();
    return text;
  }

  @Test
  void aWarningIsOneLineWithTheMessageOfItsException() {
    assertThat(written(Level.WARN, FAILURE))
        .endsWith(
            " level=WARN logger=Reflector watch failed error=\"java.io.UncheckedIOException:"
                + " java.io.IOException: no route | to host\"\n")
        .hasLineCount(1);
  }

  @Test
  void anErrorHasItsStackTrace() {
    assertThat(written(Level.ERROR, FAILURE))
        .contains(" watch failed\njava.io.UncheckedIOException: ")
        .contains("\tat dev.sluice.app.log.LogConfiguratorTest")
        .contains("Caused by: ")
        .endsWith("\n");
  }

  @Test
  void anEntryWithoutExceptionIsOneLine() {
    assertThat(written(Level.INFO, null)).endsWith(" watch failed\n").hasLineCount(1);
  }

  /**
   * Warnings of libraries are logged, but not those that only repeat or say nothing of a cluster.
   */
  @Test
  void librariesSpeakWhenSomethingIsWrong() {
    LoggerContext shipped = LogLevelsTest.shipped();

    assertThat(shipped.getLogger("io.vertx.core.Vertx").getEffectiveLevel()).isEqualTo(Level.WARN);
    assertThat(shipped.getLogger("org.flywaydb.core.Flyway").getEffectiveLevel())
        .isEqualTo(Level.OFF);
    assertThat(shipped.getLogger("io.vertx.core.impl.BlockedThreadChecker").getEffectiveLevel())
        .isEqualTo(Level.ERROR);
    assertThat(shipped.getLogger("dev.sluice.core").getEffectiveLevel()).isEqualTo(Level.INFO);
  }

  /** A file that an operator or a test names goes first. */
  @Test
  void aFileOfTestsGoesFirst() {
    LoggerContext context = new LoggerContext();

    assertThat(new LogConfigurator().configure(context))
        .isEqualTo(Configurator.ExecutionStatus.INVOKE_NEXT_IF_ANY);
    assertThat(context.getLogger(Logger.ROOT_LOGGER_NAME).iteratorForAppenders()).isExhausted();
  }
}
