package dev.sluice.app.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How the operator's own {@code logback.xml} writes entries with exceptions. */
class ThrownConverterTest {

  private static final Exception FAILURE =
      new UncheckedIOException(new IOException("no route\nto host"));

  @SuppressWarnings("unchecked")
  private static String written(Level level, @Nullable Exception thrown) throws Exception {
    LoggerContext context = new LoggerContext();
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    URI file = Path.of("src", "main", "resources", "logback.xml").toUri();
    configurator.doConfigure(file.toURL());
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
  void aWarningIsOneLineWithTheMessageOfItsException() throws Exception {
    assertThat(written(Level.WARN, FAILURE))
        .endsWith(
            " level=WARN logger=Reflector watch failed error=\"java.io.UncheckedIOException:"
                + " java.io.IOException: no route | to host\"\n")
        .hasLineCount(1);
  }

  @Test
  void anErrorHasItsStackTrace() throws Exception {
    assertThat(written(Level.ERROR, FAILURE))
        .contains(" watch failed\njava.io.UncheckedIOException: ")
        .contains("\tat dev.sluice.app.log.ThrownConverterTest")
        .contains("Caused by: ")
        .endsWith("\n");
  }

  @Test
  void anEntryWithoutExceptionIsOneLine() throws Exception {
    assertThat(written(Level.INFO, null)).endsWith(" watch failed\n").hasLineCount(1);
  }
}
