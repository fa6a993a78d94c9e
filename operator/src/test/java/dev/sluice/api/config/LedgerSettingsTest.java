package dev.sluice.api.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The block {@code ledger} of the configuration. */
class LedgerSettingsTest {

  private static final String HEAD =
      "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";

  private static Configuration load(String yaml) throws ConfigurationException {
    return ConfigurationLoader.parse(HEAD + yaml, "", () -> "kueue-system");
  }

  @Test
  void isOffByDefault() throws Exception {
    assertThat(load("namespace: own").ledger())
        .isEqualTo(
            new LedgerSettings(
                false,
                "",
                new LedgerSettings.Server("", "", ""),
                List.of(),
                Duration.ofDays(400),
                256L << 20,
                ""));
  }

  @Test
  void everyFieldIsReadAndPrinted() throws Exception {
    Configuration read =
        load(
            """
            ledger:
              enable: true
              directory: /var/lib/ledger
              jdbcUrl: jdbc:postgresql://db:5432/ledger?sslmode=require
              username: sluice
              passwordFile: /etc/ledger/password
              labels: [team, example.com/project]
              maxAge: 24h
              maxBufferBytes: 1Gi
              currency: EUR
            """);
    assertThat(read.ledger())
        .isEqualTo(
            new LedgerSettings(
                true,
                "/var/lib/ledger",
                new LedgerSettings.Server(
                    "jdbc:postgresql://db:5432/ledger?sslmode=require",
                    "sluice",
                    "/etc/ledger/password"),
                List.of("team", "example.com/project"),
                Duration.ofHours(24),
                1L << 30,
                "EUR"));
    assertThat(ConfigurationLoader.parse(read.effective(), "", () -> "kueue-system").ledger())
        .isEqualTo(read.ledger());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "enable: true|ledger.directory",
        "directory: here|ledger.directory: \"here\"",
        "jdbcUrl: 'jdbc:mysql://db/x'|ledger.jdbcUrl: \"jdbc:mysql://db/x\"",
        "passwordFile: here|ledger.passwordFile: \"here\"",
        "labels: [not/a/key]|ledger.labels: \"not/a/key\"",
        "labels: team|ledger.labels",
        "maxAge: 1s|ledger.maxAge",
        "maxBufferBytes: 1Ki|ledger.maxBufferBytes: \"1Ki\"",
        "currency: 1 EUR|ledger.currency: \"1 EUR\"",
        "size: 1|ledger.size: unknown field"
      })
  void whatIsWrongIsTold(String field, String message) {
    ConfigurationException wrong =
        catchThrowableOfType(ConfigurationException.class, () -> load("ledger: {" + field + "}"));
    assertThat(wrong).isNotNull();
    assertThat(wrong.getMessage()).contains(message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:postgresql://db/x?user=a&password=hunter2",
        "jdbc:postgresql://db/x?PASSWORD=hunter2",
        "jdbc:postgresql://a:hunter2@db/x"
      })
  void aPasswordInAUrlIsRefusedAndNotShown(String url) {
    ConfigurationException wrong =
        catchThrowableOfType(
            ConfigurationException.class, () -> load("ledger: {jdbcUrl: '" + url + "'}"));
    assertThat(wrong).isNotNull();
    assertThat(wrong.getMessage()).contains("passwordFile").doesNotContain("hunter2");
  }
}
