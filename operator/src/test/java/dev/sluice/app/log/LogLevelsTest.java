package dev.sluice.app.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.read.ListAppender;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.app.OperatorRunner;
import dev.sluice.workload.writing.DecisionExecutor.DecisionLog;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LogLevelsTest {

  @Test
  void decisionsCanBeTurnedOffAlone() {
    boolean others = LoggerFactory.getLogger(LogLevels.class).isErrorEnabled();
    try {
      LogLevels.decisions(false);

      assertThat(LoggerFactory.getLogger(DecisionLog.NAME).isErrorEnabled()).isFalse();
      assertThat(LoggerFactory.getLogger(LogLevels.class).isErrorEnabled()).isEqualTo(others);
    } finally {
      LogLevels.decisions(true);
    }
    assertThat(LoggerFactory.getLogger(DecisionLog.NAME).isErrorEnabled()).isEqualTo(others);
  }

  /** The loggers with the configuration that is shipped. */
  static LoggerContext shipped() {
    LoggerContext shipped = new LoggerContext();
    LogConfigurator.shipped(shipped);
    return shipped;
  }

  private static String written(LoggerContext shipped, ILoggingEvent entry) {
    var appender =
        (ConsoleAppender<ILoggingEvent>)
            shipped.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).getAppender("lines");
    return new String(appender.getEncoder().encode(entry), StandardCharsets.UTF_8);
  }

  @Test
  void timesHaveThreeDigitsOfMilliseconds() {
    LoggerContext shipped = shipped();
    LoggingEvent entry =
        new LoggingEvent("", shipped.getLogger("a.B"), Level.INFO, "a=1", null, new Object[0]);
    entry.setInstant(Instant.parse("2030-01-01T00:00:00.007Z"));

    assertThat(written(shipped, entry))
        .isEqualToIgnoringNewLines("time=2030-01-01T00:00:00.007Z level=INFO logger=B a=1");
  }

  @Test
  void theLoggerOfANestedTypeHasItsSimpleName() {
    LoggerContext shipped = shipped();
    LoggingEvent entry =
        new LoggingEvent("", shipped.getLogger("a.B$C"), Level.INFO, "a=1", null, new Object[0]);

    assertThat(written(shipped, entry)).contains(" logger=C a=1");
  }

  @Test
  void theConfigurationThatIsLoggedCanBeFedBack() throws Exception {
    Configuration configuration =
        ConfigurationLoader.parse(
            """
            apiVersion: config.kueue.x-k8s.io/v1beta2
            kind: Configuration
            integrations: {frameworks: [batch/job, pod]}
            leaderElection: {leaseDuration: 1h1m1.5s}
            """,
            "",
            () -> "queueing");
    LoggerContext shipped = shipped();
    Logger log = shipped.getLogger(OperatorRunner.class);
    ListAppender<ILoggingEvent> entries = new ListAppender<>();
    entries.start();
    log.addAppender(entries);
    log.setAdditive(false);

    OperatorRunner.log(configuration, log);
    assertThat(entries.list).isEmpty();
    log.setLevel(Level.DEBUG);
    OperatorRunner.log(configuration, log);

    String file =
        entries.list.stream()
            .map(entry -> written(shipped, entry).stripTrailing())
            .map(line -> line.replaceFirst("^.* logger=OperatorRunner configuration: ?", ""))
            .collect(Collectors.joining("\n"));
    assertThat(ConfigurationLoader.parse(file, "", () -> "another")).isEqualTo(configuration);
  }
}
