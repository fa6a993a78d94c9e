package dev.sluice.api.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.sluice.api.config.Configuration.JournalSettings;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The block {@code journal} of the configuration. */
class JournalSettingsTest {

  private static final String HEAD =
      "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";

  private static Configuration load(String yaml) throws ConfigurationException {
    return ConfigurationLoader.parse(HEAD + yaml, "", () -> "kueue-system");
  }

  @Test
  void isOffByDefault() throws Exception {
    assertThat(load("namespace: own").journal())
        .isEqualTo(
            new JournalSettings(
                false, "", 1L << 31, Duration.ofHours(720), 64 << 20, Duration.ofSeconds(1)));
  }

  @Test
  void everyFieldIsReadAndPrinted() throws Exception {
    Configuration read =
        load(
            """
            journal:
              enable: true
              directory: /var/lib/journal
              maxBytes: 1Gi
              maxAge: 24h
              segmentBytes: 1048576
              syncInterval: 100ms
            """);
    assertThat(read.journal())
        .isEqualTo(
            new JournalSettings(
                true,
                "/var/lib/journal",
                1 << 30,
                Duration.ofHours(24),
                1 << 20,
                Duration.ofMillis(100)));
    assertThat(ConfigurationLoader.parse(read.effective(), "", () -> "kueue-system").journal())
        .isEqualTo(read.journal());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "enable: true|journal.directory",
        "directory: here|journal.directory: \"here\"",
        "maxBytes: lots|journal.maxBytes: \"lots\" is not a quantity",
        "maxBytes: 100Mi|journal.maxBytes: has to be at least twice segmentBytes",
        "maxBytes: true|journal.maxBytes",
        "segmentBytes: 1Ki|journal.segmentBytes: \"1Ki\"",
        "segmentBytes: 2Gi|journal.segmentBytes: \"2Gi\"",
        "maxAge: 1s|journal.maxAge",
        "maxAge: long|journal.maxAge",
        "syncInterval: 0s|journal.syncInterval",
        "size: 1|journal.size: unknown field"
      })
  void whatIsWrongIsTold(String field, String message) {
    ConfigurationException wrong =
        catchThrowableOfType(ConfigurationException.class, () -> load("journal: {" + field + "}"));
    assertThat(wrong).isNotNull();
    assertThat(wrong.getMessage()).contains(message);
  }
}
