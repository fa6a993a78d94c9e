package dev.sluice.testing;

import dev.sluice.api.config.ConfigurationException;
import dev.sluice.app.OperatorApplication;
import dev.sluice.app.OperatorRunner;
import dev.sluice.lab.process.OperatorSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The whole operator within the process of the tests: it starts in a fraction of the time that a
 * process of its own needs. It can't be killed, and its log is that of the tests. It stops when it
 * may not go on, as one does that has lost its lease.
 */
public final class LocalOperator implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(LocalOperator.class);
  private static final Duration READY_LIMIT = Duration.ofMinutes(5);
  private static final Duration PROBE_LIMIT = Duration.ofSeconds(2);
  private static final String HOST = "127.0.0.1";

  private final OperatorSettings settings;
  private final OperatorApplication application;
  private final CompletableFuture<String> ended;
  private final AtomicBoolean closed = new AtomicBoolean();

  private LocalOperator(
      OperatorSettings settings, OperatorApplication application, CompletableFuture<String> ended) {
    this.settings = settings;
    this.application = application;
    this.ended = ended;
  }

  /**
   * Installs what an operator needs and starts one on free ports, whose lease is long; it is ready
   * when this returns.
   *
   * @param name of its configuration file, and for the log
   * @param kubeconfig the cluster it works for
   * @param yaml fields of the configuration file that differ from what is shipped
   */
  public static LocalOperator start(String name, Path kubeconfig, String yaml) {
    return start(name, kubeconfig, OperatorSettings.onFreePorts(new SecureRandom()).with(yaml));
  }

  /** The same with ports and times that were chosen before. */
  public static LocalOperator start(String name, Path kubeconfig, OperatorSettings settings) {
    CompletableFuture<String> ended = new CompletableFuture<>();
    try {
      Path file = Files.createTempFile(name, ".yaml");
      OperatorApplication application =
          OperatorRunner.start(
              options(kubeconfig, settings, file),
              reason -> {
                LOG.warn("operator {} ends reason=\"{}\"", name, reason);
                ended.complete(reason);
              });
      LocalOperator operator = new LocalOperator(settings, application, ended);
      Files.delete(file);
      // a process would end here
      ended.thenAcceptAsync(reason -> operator.close());
      operator.awaitReady(name);
      return operator;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ConfigurationException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** One that installs, as an administrator; or the chart's, which is installed already. */
  private static OperatorRunner.Options options(
      Path administrator, OperatorSettings settings, Path file) throws IOException {
    boolean ofChart = ChartInstallation.isWanted();
    Path kubeconfig;
    String configuration;
    if (ofChart) {
      ChartInstallation.Installed installed = ChartInstallation.install(administrator, settings);
      kubeconfig = installed.kubeconfig();
      configuration = installed.configuration();
    } else {
      kubeconfig =
          AuditedOperators.directory().isPresent()
              ? AuditedOperators.kubeconfig(administrator)
              : administrator;
      configuration = settings.yaml();
    }
    Files.writeString(file, configuration);
    return new OperatorRunner.Options(
        Optional.of(kubeconfig),
        Optional.of(file),
        Optional.empty(),
        false,
        !ofChart,
        HOST,
        Optional.empty(),
        Path.of("none"));
  }

  private void awaitReady(String name) {
    try (HttpClient http = HttpClient.newBuilder().connectTimeout(PROBE_LIMIT).build()) {
      Awaitility.await("readiness of " + name)
          .atMost(READY_LIMIT)
          .ignoreExceptionsInstanceOf(IOException.class)
          .until(() -> application.hasListed() && answersOk(http, "/readyz"));
    }
  }

  private boolean answersOk(HttpClient http, String path) throws IOException, InterruptedException {
    return answer(http, path).statusCode() == 200;
  }

  private HttpResponse<String> answer(HttpClient http, String path)
      throws IOException, InterruptedException {
    HttpRequest probe =
        HttpRequest.newBuilder(URI.create("http://" + HOST + ":" + settings.healthPort() + path))
            .timeout(PROBE_LIMIT)
            .build();
    return http.send(probe, BodyHandlers.ofString());
  }

  /** Whether both of its probes answer that all is well; the log says why not. */
  public boolean isHealthy() {
    try (HttpClient http = HttpClient.newBuilder().connectTimeout(PROBE_LIMIT).build()) {
      for (String path : new String[] {"/healthz", "/readyz"}) {
        HttpResponse<String> answer = answer(http, path);
        if (answer.statusCode() != 200) {
          LOG.warn("probe={} status={} body=\"{}\"", path, answer.statusCode(), answer.body());
          return false;
        }
      }
      return true;
    } catch (IOException e) {
      LOG.warn("probe answered=false reason=\"{}\"", e.toString());
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Whether it has not said that it must end. */
  public boolean isAlive() {
    return !ended.isDone();
  }

  /** Its ports and times. */
  public OperatorSettings settings() {
    return settings;
  }

  /** Stops it, if it hasn't ended by itself; what it holds is released, also its lease. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      application.close();
    }
  }
}
