package dev.sluice.app.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.app.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class ZapOptionsTest {

  private static ZapOptions parsed(String... arguments) {
    ZapOptions options = new ZapOptions();
    CommandLine.populateCommand(options, arguments);
    return options;
  }

  private static LoggingEvent entry(Level level, boolean thrown) {
    LoggingEvent entry =
        new LoggingEvent(
            "",
            new LoggerContext().getLogger("a.B"),
            level,
            "a=1\nb=2",
            thrown ? new IllegalStateException("no\nway") : null,
            new Object[0]);
    entry.setInstant(Instant.parse("2030-01-01T00:00:01.002003004Z"));
    return entry;
  }

  private static String written(LoggingEvent entry, String... arguments) throws Exception {
    LogEncoder encoder = parsed(arguments).encoder().orElseThrow();
    return new String(encoder.encode(entry), StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource({
    "debug, DEBUG",
    "info, INFO",
    "ERROR, ERROR",
    "panic, ERROR",
    "1, INFO",
    "2, INFO",
    "3, DEBUG",
    "4, DEBUG",
    "5, TRACE",
    "10, TRACE"
  })
  void levels(String word, String level) throws Exception {
    assertThat(parsed("--zap-log-level=" + word).level()).contains(Level.toLevel(level));
  }

  @Test
  void nothingChangesWithoutFlags() throws Exception {
    assertThat(parsed().level()).isEmpty();
    assertThat(parsed().encoder()).isEmpty();
    assertThat(parsed("--zap-log-level=2").encoder()).isEmpty();
  }

  @Test
  void developmentIsVerbose() throws Exception {
    assertThat(parsed("--zap-devel").level()).contains(Level.DEBUG);
    assertThat(parsed("--zap-devel=true", "--zap-log-level=error").level()).contains(Level.ERROR);
    assertThat(parsed("--zap-devel=false").level()).isEmpty();
    assertThat(written(entry(Level.WARN, true), "--zap-devel")).contains("\tat ");
    assertThat(written(entry(Level.WARN, true), "--zap-devel=false")).doesNotContain("\tat ");
  }

  @ParameterizedTest
  @CsvSource({
    "epoch, 1893456001.002003004",
    "millis, 1893456001002.003004",
    "nano, 1893456001002003004",
    "iso8601, 2030-01-01T00:00:01.002Z",
    "rfc3339, 2030-01-01T00:00:01Z",
    "rfc3339nano, 2030-01-01T00:00:01.002003004Z",
    "RFC3339, 2030-01-01T00:00:01Z"
  })
  void times(String encoding, String expected) throws Exception {
    assertThat(written(entry(Level.INFO, false), "--zap-time-encoding=" + encoding))
        .isEqualTo("time=" + expected + " level=INFO logger=B a=1 | b=2\n");
  }

  @Test
  void entriesAreJsonObjects() throws Exception {
    String plain = written(entry(Level.INFO, false), "--zap-encoder=json");
    String failed =
        written(entry(Level.ERROR, true), "--zap-encoder=json", "--zap-time-encoding=epoch");

    assertThat(plain)
        .isEqualTo(
            "{\"level\":\"info\",\"ts\":\"2030-01-01T00:00:01.002003004Z\",\"logger\":\"B\","
                + "\"msg\":\"a=1\\nb=2\"}\n");
    JsonNode tree = new ObjectMapper().readTree(failed);
    assertThat(tree.path("ts").isNumber()).isTrue();
    assertThat(tree.path("error").textValue())
        .isEqualTo("java.lang.IllegalStateException: no\nway");
    assertThat(tree.path("stacktrace").textValue()).contains("\tat ");
    assertThat(failed.strip()).hasLineCount(1);
  }

  @ParameterizedTest
  @CsvSource({
    "info, INFO, true",
    "error, INFO, false",
    "error, ERROR, true",
    "panic, ERROR, false"
  })
  void stackTraces(String from, String level, boolean there) throws Exception {
    String line = written(entry(Level.toLevel(level), true), "--zap-stacktrace-level=" + from);

    assertThat(line.contains("\tat ")).isEqualTo(there);
    assertThat(line).contains("IllegalStateException: no");
    if (!there) {
      assertThat(line).endsWith(" error=\"java.lang.IllegalStateException: no | way\"\n");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--zap-log-level=loud | --zap-log-level: \"loud\" is not debug, info",
        "--zap-log-level=0 | --zap-log-level: \"0\" is not",
        "--zap-encoder=xml | --zap-encoder: \"xml\" is not json or console",
        "--zap-time-encoding=stardate | --zap-time-encoding: \"stardate\" is not one of epoch",
        "--zap-stacktrace-level=low | --zap-stacktrace-level: \"low\" is not info, error or panic",
        "--zap-devel=maybe | --zap-devel: \"maybe\" is not true or false",
        "--log-level=loud | --log-level: \"loud\" is not error, warn",
        "--log-level=info --zap-log-level=2 | --log-level: \"info\" is not to be combined"
      })
  void valuesThatAreNotKnownAreNamed(String arguments, String message) {
    StringWriter err = new StringWriter();

    int code =
        Main.commandLine()
            .setErr(new PrintWriter(err, true))
            .execute(("operator " + arguments).split(" "));

    assertThat(code).isEqualTo(2);
    assertThat(err.toString()).startsWith("sluice: " + message);
  }

  @Test
  void anEncoderTakesOverAllEntries() throws Exception {
    LoggerContext context = LogLevelsTest.shipped();
    LogEncoder encoder = parsed("--zap-encoder=json").encoder().orElseThrow();

    LogLevels.write(context, encoder);

    var appender =
        (ConsoleAppender<ILoggingEvent>)
            context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).getAppender("lines");
    assertThat(appender.getEncoder()).isSameAs(encoder);
    assertThat(appender.isStarted()).isTrue();
  }
}
