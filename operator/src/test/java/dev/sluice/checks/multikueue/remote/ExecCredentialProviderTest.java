package dev.sluice.checks.multikueue.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.checks.multikueue.access.WorkerCredentials.ExecPlugin;
import dev.sluice.checks.multikueue.remote.WorkerClients.ExecCredentialProvider;
import dev.sluice.checks.multikueue.remote.WorkerClients.ExecCredentialToken;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Programs that log in, played by shell scripts. */
class ExecCredentialProviderTest {

  private static final String V1 = "client.authentication.k8s.io/v1";

  @TempDir private Path directory = Path.of("");
  private Instant now = Instant.parse("2026-03-01T12:00:00Z");

  private final ExecCredentialProvider logins = new ExecCredentialProvider(Duration.ofSeconds(20));

  private Path script(String text) throws IOException {
    Path file = directory.resolve("login");
    Files.writeString(file, "#!/bin/sh\n" + text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    return file;
  }

  private static ExecPlugin plugin(Path command, String... args) throws IOException {
    return new ExecPlugin(
        command.toString(),
        List.of(args),
        Map.of("SITE", "north"),
        new ObjectMapper()
            .readTree(
                "{\"apiVersion\":\"" + V1 + "\",\"kind\":\"ExecCredential\",\"spec\":{\"a\":1}}"));
  }

  private static String credential(String status) {
    return "{\"apiVersion\": \""
        + V1
        + "\", \"kind\": \"ExecCredential\", \"status\": "
        + status
        + "}";
  }

  @Test
  void theProgramIsToldAndItsTokenTaken() throws Exception {
    Path file =
        script(
            """
            echo "$KUBERNETES_EXEC_INFO" > %1$s/told
            echo "$SITE $1 $2" >> %1$s/told
            echo '%2$s'
            """
                .formatted(
                    directory,
                    credential(
                        "{\"token\": \"abc\", \"expirationTimestamp\":"
                            + " \"2026-03-01T13:00:00Z\"}")));

    assertThat(logins.run(plugin(file, "--for", "us")))
        .isEqualTo(
            new ExecCredentialProvider.Login(
                Optional.of("abc"),
                Optional.empty(),
                Optional.empty(),
                Optional.of(Instant.parse("2026-03-01T13:00:00Z"))));
    assertThat(Files.readAllLines(directory.resolve("told")))
        .containsExactly(
            "{\"apiVersion\":\"" + V1 + "\",\"kind\":\"ExecCredential\",\"spec\":{\"a\":1}}",
            "north --for us");
  }

  @Test
  void aCertificateIsTakenAsItIs() throws Exception {
    Path file =
        script(
            "echo '"
                + credential("{\"clientCertificateData\": \"cert\", \"clientKeyData\": \"key\"}")
                + "'\n");

    assertThat(logins.run(plugin(file)))
        .isEqualTo(
            new ExecCredentialProvider.Login(
                Optional.empty(), Optional.of("Y2VydA=="), Optional.of("a2V5"), Optional.empty()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          exit 3 | ended with 3
          echo secret | printed no JSON
          echo '{}' | printed no ExecCredential of client.authentication.k8s.io/v1
          echo '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1"}' | printed no ExecCredential of client.authentication.k8s.io/v1
          echo '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1"}' | gave neither token nor client certificate
          echo '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"clientKeyData": "x"}}' | gave only one of clientCertificateData and clientKeyData
          echo '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": "a b"}}' | gave a token with a character that tokens do not have
          echo '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": "x", "expirationTimestamp": "soon"}}' | gave an expirationTimestamp that is not a time
          """)
  void whatIsNoLoginIsAFailureThatTellsNoSecret(String text, String what) throws Exception {
    Path file = script(text + "\n");

    assertThatThrownBy(() -> logins.run(plugin(file)))
        .isInstanceOf(IOException.class)
        .hasMessage("access provider command \"" + file + "\" " + what)
        .hasMessageNotContaining("secret");
  }

  @Test
  void aProgramThatHangsIsEnded() throws Exception {
    ExecCredentialProvider hasty = new ExecCredentialProvider(Duration.ofSeconds(1));
    Path file = script("exec sleep 60\n");

    assertThatThrownBy(() -> hasty.run(plugin(file)))
        .isInstanceOf(IOException.class)
        .hasMessageEndingWith("took longer than 1s");
  }

  /** The process whose number a script wrote into a file. */
  private Optional<ProcessHandle> child() throws IOException {
    return ProcessHandle.of(Long.parseLong(Files.readString(directory.resolve("child")).strip()));
  }

  @Test
  void whatAProgramThatHangsHasStartedIsEndedWithIt() throws Exception {
    ExecCredentialProvider hasty = new ExecCredentialProvider(Duration.ofSeconds(2));
    Path file = script("sleep 1000 &\necho $! > %s/child\nwait\n".formatted(directory));

    assertThatThrownBy(() -> hasty.run(plugin(file))).isInstanceOf(IOException.class);

    Optional<ProcessHandle> child = child();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> child.filter(ProcessHandle::isAlive).isEmpty());
  }

  @Test
  void aProgramThatLeavesAnotherInTheBackgroundIsNotWaitedFor() throws Exception {
    Path file =
        script(
            "sleep 1000 &\necho $! > %s/child\necho '%s'\n"
                .formatted(directory, credential("{\"token\": \"abc\"}")));
    try {
      assertThat(logins.run(plugin(file)).token()).contains("abc");
    } finally {
      child().ifPresent(ProcessHandle::destroyForcibly);
    }
  }

  @Test
  void aLongAnswerIsReadToItsEnd() throws Exception {
    String certificate = "x".repeat(200_000);
    Path answer = directory.resolve("answer");
    Files.writeString(
        answer,
        credential(
            "{\"clientCertificateData\": \"%s\", \"clientKeyData\": \"key\"}"
                .formatted(certificate)));

    assertThat(logins.run(plugin(script("cat " + answer + "\n"))).certificate().orElseThrow())
        .hasSizeGreaterThan(200_000);
  }

  @Test
  void aProgramThatIsNotThereIsAFailure() throws Exception {
    assertThatThrownBy(() -> logins.run(plugin(directory.resolve("none"))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("can't be run");
  }

  @Test
  void aTokenIsAskedForAgainAMinuteBeforeItExpires() throws Exception {
    Path file =
        script(
            "echo x >> "
                + directory
                + "/count\necho '"
                + credential(
                    "{\"token\": \"second\", \"expirationTimestamp\": \"2026-03-01T14:00:00Z\"}")
                + "'\n");
    ExecCredentialToken token =
        new ExecCredentialToken(
            plugin(file),
            logins,
            new ExecCredentialProvider.Login(
                Optional.of("first"),
                Optional.empty(),
                Optional.empty(),
                Optional.of(Instant.parse("2026-03-01T13:00:00Z"))),
            () -> now);

    assertThat(token.getToken()).isEqualTo("first");
    now = Instant.parse("2026-03-01T12:58:59Z");
    assertThat(token.getToken()).isEqualTo("first");
    now = Instant.parse("2026-03-01T12:59:01Z");
    assertThat(token.getToken()).isEqualTo("second");
    assertThat(token.getToken()).isEqualTo("second");
    assertThat(Files.readAllLines(directory.resolve("count"))).hasSize(1);
  }

  @Test
  void aFailureToAskAgainLeavesTheOldTokenForAWhile() throws Exception {
    Path file = script("exit 1\n");
    ExecCredentialToken token =
        new ExecCredentialToken(
            plugin(file),
            logins,
            new ExecCredentialProvider.Login(
                Optional.of("first"), Optional.empty(), Optional.empty(), Optional.of(now)),
            () -> now);
    now = now.plusSeconds(60);
    assertThat(token.getToken()).isEqualTo("first");

    Path mended = script("echo '" + credential("{\"token\": \"second\"}") + "'\n");
    assertThat(mended).isEqualTo(file);
    assertThat(token.getToken()).isEqualTo("first");
    now = now.plusSeconds(11);
    assertThat(token.getToken()).isEqualTo("second");
  }
}
