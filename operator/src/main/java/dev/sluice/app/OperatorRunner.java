package dev.sluice.app;

import dev.sluice.api.config.AddedJobKind;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.ConfigurationException;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.app.module.DeclaredKinds;
import dev.sluice.app.module.KubernetesClients;
import dev.sluice.app.module.OperatorContext.ProcessSettings;
import dev.sluice.install.InstallManifests;
import dev.sluice.install.Installer;
import dev.sluice.jobs.kind.AddedKinds;
import dev.sluice.kube.client.ConcurrentRequests;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.metrics.ApiRequestMetrics;
import dev.sluice.metrics.MetricsScrape;
import dev.sluice.server.certificates.InternalCertificates;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import sun.misc.Signal;

/** One run of the operator as a process, from its options to its exit code. */
public final class OperatorRunner {

  private static final Logger LOG = LoggerFactory.getLogger(OperatorRunner.class);
  private static final Path OWN_NAMESPACE =
      Path.of("/var/run/secrets/kubernetes.io/serviceaccount/namespace");
  private static final String DEFAULT_NAMESPACE = "kueue-system";

  /**
   * How long requests are still served after readiness has failed: by then no API server asks this
   * replica any more.
   */
  private static final Duration DRAIN = Duration.ofSeconds(5);

  /** The signals by which kubelet and terminal tell a process to end. */
  private static final List<String> ENDING = List.of("TERM", "INT");

  private OperatorRunner() {}

  /**
   * What the command line says.
   *
   * @param kubeconfig the cluster; found as any client finds it when empty
   * @param config the configuration file
   * @param featureGates the value of {@code --feature-gates}
   * @param dashboard whether the dashboard is served also if the file doesn't enable it
   * @param install whether definitions and webhook registration are applied first
   * @param webhookHost where the API server reaches this process, when it runs outside of a cluster
   * @param webhookClientAuthority PEM file of the authorities of webhook clients; empty if they are
   *     not asked who they are
   * @param jobKinds the directory of jars that provide kinds of jobs; it needn't exist
   */
  public record Options(
      Optional<Path> kubeconfig,
      Optional<Path> config,
      Optional<String> featureGates,
      boolean dashboard,
      boolean install,
      String webhookHost,
      Optional<Path> webhookClientAuthority,
      Path jobKinds) {}

  /**
   * Runs until the process is told to end, by SIGTERM or SIGINT, or has to.
   *
   * @return 0, when it was told to end; when it may not go on (the lease is lost, the engine
   *     failed) the process ends with 1 at once
   * @throws ConfigurationException with everything that is wrong with file and gates
   * @throws IOException when it can't start
   */
  public static int run(Options options)
      throws ConfigurationException, IOException, GeneralSecurityException {
    CompletableFuture<Void> end = new CompletableFuture<>();
    CompletableFuture<Void> closed = new CompletableFuture<>();
    Thread hook =
        Thread.ofPlatform()
            .unstarted(
                () -> {
                  end.complete(null);
                  closed.join();
                });
    Runtime.getRuntime().addShutdownHook(hook);
    ENDING.forEach(signal -> endOn(signal, end));
    try {
      boolean again = true;
      while (again) {
        again = runOnce(options, end);
      }
      return 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 0;
    } finally {
      closed.complete(null);
    }
  }

  /** Runs until the operator is told to end, or has to start anew: true. */
  private static boolean runOnce(Options options, CompletableFuture<Void> end)
      throws ConfigurationException, IOException, GeneralSecurityException, InterruptedException {
    CompletableFuture<String> again = new CompletableFuture<>();
    try (OperatorApplication operator =
        application(options, OperatorRunner::halt, again::complete)) {
      operator.start();
      CompletableFuture.anyOf(end, again).join();
      if (!end.isDone()) {
        LOG.info("operator starts anew reason=\"{}\"", again.join());
        return true;
      }
      LOG.info("operator ends reason=\"told to\"");
      operator.drain();
      if (inCluster(options)) {
        Thread.sleep(DRAIN);
      }
      return false;
    }
  }

  /**
   * Takes the signal as the wish that the process ends. Left to itself, the Java virtual machine
   * would end with 128 and the number of the signal, whatever {@link #run} returns: a pod that was
   * shut down would look as if it had failed.
   */
  private static void endOn(String signal, CompletableFuture<Void> end) {
    try {
      Signal.handle(new Signal(signal), received -> end.complete(null));
    } catch (IllegalArgumentException e) {
      LOG.warn("signal=SIG{} handled=false reason=\"{}\"", signal, e.getMessage());
    }
  }

  /**
   * Starts an operator within this process, and returns when it serves webhooks and takes part in
   * the election; whoever started it closes it.
   *
   * @param end is told, with the reason, when the operator may not go on, or has to be started
   *     anew; it must be closed then
   * @throws ConfigurationException with everything that is wrong with file and gates
   * @throws IOException when it can't start
   */
  public static OperatorApplication start(Options options, Consumer<String> end)
      throws ConfigurationException, IOException, GeneralSecurityException {
    OperatorApplication application = application(options, end, end);
    boolean started = false;
    try {
      application.start();
      started = true;
      return application;
    } finally {
      if (!started) {
        application.close();
      }
    }
  }

  private static Configuration configuration(Options options)
      throws ConfigurationException, IOException {
    Configuration configuration =
        ConfigurationLoader.load(
            options.config(),
            options.featureGates(),
            options.dashboard(),
            OperatorRunner::ownNamespace);
    log(configuration, LOG);
    return configuration;
  }

  /**
   * Logs the configuration in force for debugging, an entry for each line of a file that says the
   * same.
   */
  public static void log(Configuration configuration, Logger log) {
    configuration.effective().lines().forEach(line -> log.debug("configuration: {}", line));
  }

  /** Makes the client while the configuration is read: it takes nothing from it. */
  private static OperatorApplication application(
      Options options, Consumer<String> end, Consumer<String> again)
      throws ConfigurationException, IOException {
    MetricsScrape metrics = new MetricsScrape();
    ReadErrorLog errors = new ReadErrorLog();
    Supplier<KubernetesClient> client =
        ConcurrentRequests.begin(() -> client(options, metrics, errors));
    boolean made = false;
    try {
      OperatorApplication application =
          application(
              options,
              configuration(options),
              new Connections(client, errors, metrics),
              end,
              again);
      made = true;
      return application;
    } catch (UncheckedIOException e) {
      throw e.getCause();
    } finally {
      if (!made) {
        var unused = ConcurrentRequests.begin(() -> closed(client.get()));
      }
    }
  }

  private static boolean closed(KubernetesClient client) {
    client.close();
    return true;
  }

  /** The client, once it is made, and what it counts and reports. */
  private record Connections(
      Supplier<KubernetesClient> client, ReadErrorLog errors, MetricsScrape metrics) {}

  private static KubernetesClient client(
      Options options, MetricsScrape metrics, ReadErrorLog errors) {
    try {
      return KubernetesClients.forOperator(
          options.kubeconfig(), new ApiRequestMetrics(metrics.registry()), errors);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static OperatorApplication application(
      Options options,
      Configuration configurationOfFile,
      Connections connections,
      Consumer<String> end,
      Consumer<String> again)
      throws IOException {
    KubernetesClient client = connections.client().get();
    List<AddedJobKind> added =
        new ArrayList<>(AddedKinds.provided(options.jobKinds(), DeclaredKinds.known(List.of())));
    for (AddedJobKind each : added) {
      LOG.info("kind={} provided=true", each.framework());
    }
    added.addAll(DeclaredKinds.read(client, DeclaredKinds.known(added)));
    Configuration configuration = configurationOfFile.adding(added);
    Optional<String> url =
        inCluster(options)
            ? Optional.empty()
            : Optional.of(
                "https://" + options.webhookHost() + ":" + configuration.webhook().port());
    return new OperatorApplication(
        configuration,
        client,
        connections.errors(),
        connections.metrics(),
        InstantSource.system(),
        new ProcessSettings(
            ProcessSettings.ownPod().orElse("sluice") + "_" + UUID.randomUUID(),
            hosts(options, configuration),
            options.webhookClientAuthority(),
            end,
            again),
        options.install()
            ? Optional.of(new Installer(KubernetesClients.forInstaller(client), configuration, url))
            : Optional.empty());
  }

  private static boolean inCluster(Options options) {
    return Files.exists(OWN_NAMESPACE) && options.kubeconfig().isEmpty();
  }

  /**
   * Ends the process without sending anything more: another may lead already, whose decisions don't
   * count with what this one still had on its way.
   */
  private static void halt(String reason) {
    LOG.error("operator ends reason=\"{}\"", reason);
    Runtime.getRuntime().halt(1);
  }

  private static List<String> hosts(Options options, Configuration configuration) {
    List<String> hosts =
        new ArrayList<>(
            InternalCertificates.serviceHosts(
                configuration.internalCertManagement().webhookServiceName(),
                configuration.namespace()));
    hosts.addAll(
        InternalCertificates.serviceHosts(
            InstallManifests.VISIBILITY_SERVICE, configuration.namespace()));
    if (!inCluster(options)) {
      hosts.add(options.webhookHost());
      hosts.add("localhost");
    }
    return hosts;
  }

  /** The namespace of the pod that this process runs in; outside of a cluster the default. */
  static String ownNamespace() {
    try {
      return Files.readString(OWN_NAMESPACE).strip();
    } catch (IOException e) {
      return DEFAULT_NAMESPACE;
    }
  }
}
