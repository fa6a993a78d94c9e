package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.checks.multikueue.access.ExecPlugin;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs login programs for worker clusters, as {@code client.authentication.k8s.io} specifies.
 * Limits the number of concurrent programs and the time of each. The standard error of a program
 * goes to the operator's standard error.
 */
final class ExecCredentialProvider {

  private static final int MAX_CONCURRENT = 4;
  private static final int MAX_OUTPUT_BYTES = 1 << 20;
  private static final Duration REST = Duration.ofSeconds(2);

  private final Duration timeout;
  private final Executor io;
  private final Semaphore permits = new Semaphore(MAX_CONCURRENT);

  /**
   * Creates a provider.
   *
   * @param timeout the longest time that a program may run
   * @param io reads the output of the programs
   */
  ExecCredentialProvider(Duration timeout, Executor io) {
    this.timeout = timeout;
    this.io = io;
  }

  /**
   * Result of a login program.
   *
   * @param token a bearer token
   * @param certificate base64 of a client certificate in PEM
   * @param key base64 of its private key
   * @param expires expiry time, if the program returns one
   */
  record Login(
      Optional<String> token,
      Optional<String> certificate,
      Optional<String> key,
      Optional<Instant> expires) {

    /** Contains no secrets. */
    @Override
    public String toString() {
      return "Login[expires=" + expires + "]";
    }
  }

  /**
   * Runs the program and waits for its end.
   *
   * @throws IOException when the program fails, exceeds the timeout, or returns malformed output
   */
  Login run(ExecPlugin plugin) throws IOException {
    try {
      permits.acquire();
      try {
        return login(plugin, output(plugin));
      } finally {
        permits.release();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    }
  }

  private byte[] output(ExecPlugin plugin) throws IOException, InterruptedException {
    List<String> line = new ArrayList<>();
    line.add(plugin.command());
    line.addAll(plugin.args());
    ProcessBuilder builder =
        new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(plugin.env());
    builder.environment().put("KUBERNETES_EXEC_INFO", plugin.info().toString());
    Process process = start(builder, plugin);
    try {
      process.getOutputStream().close();
      CompletableFuture<byte[]> stdout =
          CompletableFuture.supplyAsync(() -> read(process.getInputStream()), io);
      if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        throw failed(plugin, "took longer than " + timeout.toSeconds() + "s");
      }
      if (process.exitValue() != 0) {
        throw failed(plugin, "ended with " + process.exitValue());
      }
      return stdout.get(REST.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw failed(plugin, "can't be read: " + e);
    } finally {
      process.destroyForcibly();
    }
  }

  private static Process start(ProcessBuilder builder, ExecPlugin plugin) throws IOException {
    try {
      return builder.start();
    } catch (IOException e) {
      throw failed(plugin, "can't be run: " + e.getMessage());
    }
  }

  private static byte[] read(InputStream stream) {
    try {
      return stream.readNBytes(MAX_OUTPUT_BYTES);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static IOException failed(ExecPlugin plugin, String what) {
    return new IOException("access provider command \"" + plugin.command() + "\" " + what);
  }

  private Login login(ExecPlugin plugin, byte[] output) throws IOException {
    JsonNode credential;
    try {
      credential = JsonMappers.JSON.readTree(output);
    } catch (JsonProcessingException e) {
      throw failed(plugin, "printed no JSON");
    }
    String version = plugin.info().path("apiVersion").asText();
    if (!credential.path("kind").asText().equals("ExecCredential")
        || !credential.path("apiVersion").asText().equals(version)) {
      throw failed(plugin, "printed no ExecCredential of " + version);
    }
    JsonNode status = credential.path("status");
    Optional<String> token = text(status, "token");
    Optional<String> certificate =
        text(status, "clientCertificateData").map(ExecCredentialProvider::base64);
    Optional<String> key = text(status, "clientKeyData").map(ExecCredentialProvider::base64);
    if (certificate.isPresent() != key.isPresent()) {
      throw failed(plugin, "gave only one of clientCertificateData and clientKeyData");
    }
    if (token.isEmpty() && certificate.isEmpty()) {
      throw failed(plugin, "gave neither token nor client certificate");
    }
    if (token.isPresent() && !token.get().chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw failed(plugin, "gave a token with a character that tokens do not have");
    }
    return new Login(token, certificate, key, expiry(plugin, status));
  }

  private static Optional<Instant> expiry(ExecPlugin plugin, JsonNode status) throws IOException {
    Optional<String> text = text(status, "expirationTimestamp");
    try {
      return text.map(Instant::parse);
    } catch (DateTimeException e) {
      throw failed(plugin, "gave an expirationTimestamp that is not a time");
    }
  }

  private static Optional<String> text(JsonNode status, String field) {
    return Optional.of(status.path(field).asText()).filter(it -> !it.isEmpty());
  }

  private static String base64(String pem) {
    return Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.UTF_8));
  }
}
