package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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
 * Runs programs that log in to worker clusters, as {@code client.authentication.k8s.io} describes
 * them, a few at a time and each for so long at most. What a program complains of goes where the
 * operator's own complaints go.
 */
final class ExecCredentialProvider {

  private static final int AT_A_TIME = 4;
  private static final int LARGEST = 1 << 20;
  private static final Duration REST = Duration.ofSeconds(2);

  private final Duration patience;
  private final Executor io;
  private final Semaphore free = new Semaphore(AT_A_TIME);
  private final ObjectMapper mapper = new ObjectMapper();

  /**
   * Runs programs.
   *
   * @param patience how long one may take
   * @param io reads what they say
   */
  ExecCredentialProvider(Duration patience, Executor io) {
    this.patience = patience;
    this.io = io;
  }

  /**
   * What a program gave.
   *
   * @param token a bearer token
   * @param certificate base64 of a client certificate in PEM
   * @param key base64 of its private key
   * @param expires until when it may be used, if that is said
   */
  record Login(
      Optional<String> token,
      Optional<String> certificate,
      Optional<String> key,
      Optional<Instant> expires) {

    /** Never the secrets. */
    @Override
    public String toString() {
      return "Login[expires=" + expires + "]";
    }
  }

  /**
   * Runs the program, and waits for it.
   *
   * @throws IOException when it fails, takes too long, or says something else than it should
   */
  Login run(ExecPlugin plugin) throws IOException {
    try {
      free.acquire();
      try {
        return login(plugin, output(plugin));
      } finally {
        free.release();
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
      CompletableFuture<byte[]> said =
          CompletableFuture.supplyAsync(() -> read(process.getInputStream()), io);
      if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        throw failed(plugin, "took longer than " + patience.toSeconds() + " s");
      }
      if (process.exitValue() != 0) {
        throw failed(plugin, "ended with " + process.exitValue());
      }
      return said.get(REST.toMillis(), TimeUnit.MILLISECONDS);
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
      return stream.readNBytes(LARGEST);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static IOException failed(ExecPlugin plugin, String what) {
    return new IOException("access provider command \"" + plugin.command() + "\" " + what);
  }

  private Login login(ExecPlugin plugin, byte[] output) throws IOException {
    JsonNode said;
    try {
      said = mapper.readTree(output);
    } catch (JsonProcessingException e) {
      throw failed(plugin, "printed no JSON");
    }
    String version = plugin.info().path("apiVersion").asText();
    if (!said.path("kind").asText().equals("ExecCredential")
        || !said.path("apiVersion").asText().equals(version)) {
      throw failed(plugin, "printed no ExecCredential of " + version);
    }
    JsonNode status = said.path("status");
    Optional<String> token = text(status, "token");
    Optional<String> certificate =
        text(status, "clientCertificateData").map(ExecCredentialProvider::coded);
    Optional<String> key = text(status, "clientKeyData").map(ExecCredentialProvider::coded);
    if (certificate.isPresent() != key.isPresent()) {
      throw failed(plugin, "gave only one of clientCertificateData and clientKeyData");
    }
    if (token.isEmpty() && certificate.isEmpty()) {
      throw failed(plugin, "gave neither token nor client certificate");
    }
    if (token.isPresent() && !token.get().chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw failed(plugin, "gave a token with a character no token has");
    }
    return new Login(token, certificate, key, expiry(plugin, status));
  }

  private static Optional<Instant> expiry(ExecPlugin plugin, JsonNode status) throws IOException {
    Optional<String> text = text(status, "expirationTimestamp");
    try {
      return text.map(Instant::parse);
    } catch (DateTimeException e) {
      throw failed(plugin, "gave an expirationTimestamp that is no time");
    }
  }

  private static Optional<String> text(JsonNode status, String field) {
    return Optional.of(status.path(field).asText()).filter(it -> !it.isEmpty());
  }

  private static String coded(String pem) {
    return Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.UTF_8));
  }
}
