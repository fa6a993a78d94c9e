package dev.sluice.app;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.ConfigurationException;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.app.Main.ConfigurationOption;
import dev.sluice.app.module.OperatorContext.LeaderElectorFactory;
import dev.sluice.install.Installer;
import dev.sluice.install.RegisteredWebhooks;
import dev.sluice.kube.client.KubeconfigOption;
import dev.sluice.kube.leader.SharedObjectsGuard;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sluice uninstall}: removes from a cluster what {@code operator --install} applied. */
@Command(
    name = "uninstall",
    description = {
      "Removes from a cluster what operator --install applied: webhook registrations and roles.",
      "With --definitions the definitions and the operator's namespace go too, and with them all"
          + " queues and Workloads, whose finalizers are taken off. Stop the operator first: while"
          + " one renews its lease, or a ready pod is behind the Service of its webhooks, or behind"
          + " any that webhook registrations for kueue.x-k8s.io name, nothing is removed. An"
          + " operator without leader election that runs outside of the cluster isn't noticed.",
      "What another owner holds by a finalizer stays, and is named."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:everything that was to be removed is gone",
      "1:something stays, an operator runs, or the API server refused; the message says which",
      "2:the command line or the configuration is wrong",
      "3:the API server can't be reached, or a file can't be read"
    })
public final class UninstallCommand implements Callable<Integer> {

  private static final Duration PAUSE = Duration.ofMillis(500);

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private KubeconfigOption kubeconfig = new KubeconfigOption();

  @Mixin private ConfigurationOption config = new ConfigurationOption();

  @Option(
      names = "--definitions",
      description = "Also remove definitions and namespace, and so all queues and Workloads.")
  private boolean definitions;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description =
          "With --definitions: when to give up, counted from the last object that went (default:"
              + " ${DEFAULT-VALUE}).")
  private int timeoutSeconds = 60;

  @Override
  public Integer call() {
    if (timeoutSeconds < 1) {
      throw new ParameterException(
          spec.commandLine(), "--timeout is " + timeoutSeconds + ", must be 1 or more");
    }
    return kubeconfig.exitCode(spec, this::uninstall);
  }

  private int uninstall() throws IOException {
    try (KubernetesClient client =
        new KubernetesClientBuilder().withConfig(kubeconfig.config()).build()) {
      Configuration configuration =
          ConfigurationLoader.load(config.file(), Optional.empty(), OperatorRunner::ownNamespace);
      Installer installer = new Installer(client, configuration, Optional.empty());
      if (definitions) {
        return removeAll(installer, configuration, client);
      }
      installer.uninstall(false);
      spec.commandLine().getOut().println("uninstalled");
      spec.commandLine()
          .getOut()
          .println(
              "the definitions stay, and with them all queues and Workloads; requests in their"
                  + " older versions are refused until an operator converts them again");
      return 0;
    } catch (ConfigurationException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      tell("interrupted; start it again to go on");
      return 1;
    }
  }

  private int removeAll(Installer installer, Configuration configuration, KubernetesClient client)
      throws IOException, InterruptedException {
    Optional<String> operator =
        operator(configuration, client)
            .map(
                holder ->
                    holder + " renews the lease " + configuration.leaderElection().resourceName())
            .or(() -> servingPod(configuration, client));
    if (operator.isPresent()) {
      tell("nothing was removed: an operator runs, " + operator.get() + "; stop it first");
      return 1;
    }
    installer.uninstall(true);
    List<String> remains =
        installer.removeDefinitions(Duration.ofSeconds(timeoutSeconds), this::tell);
    PrintWriter out = spec.commandLine().getOut();
    if (remains.isEmpty()) {
      out.println("uninstalled, with all definitions, queues and Workloads");
      return 0;
    }
    remains.forEach(line -> out.println("stays  " + line));
    out.println("not everything is gone; when nothing holds it any more, start this again");
    return 1;
  }

  /** The identity of an operator that renews the lease; waits until that can be told. */
  private Optional<String> operator(Configuration configuration, KubernetesClient client)
      throws InterruptedException {
    SharedObjectsGuard guard = LeaderElectorFactory.guardAgainstAnyOperator(configuration, client);
    try {
      guard.check();
      return Optional.empty();
    } catch (SharedObjectsGuard.HeldByOtherException held) {
      tell(held.holder() + " has not given up its lease; waiting whether it renews it");
    }
    try {
      guard.await(PAUSE);
      return Optional.empty();
    } catch (SharedObjectsGuard.HeldByOtherException held) {
      return Optional.of(held.holder());
    }
  }

  /**
   * A pod that answers webhooks: an operator that takes no part in an election has no lease. A
   * release may have given its Service another name, which its registrations tell.
   */
  private static Optional<String> servingPod(Configuration configuration, KubernetesClient client) {
    return Stream.concat(
            Stream.of(
                Map.entry(
                    configuration.namespace(),
                    configuration.internalCertManagement().webhookServiceName())),
            RegisteredWebhooks.list(client)
                .servicesOfTheApi()
                .map(service -> Map.entry(service.getNamespace(), service.getName())))
        .distinct()
        .flatMap(service -> readyPod(service.getKey(), service.getValue(), client).stream())
        .findFirst();
  }

  private static Optional<String> readyPod(
      String namespace, String service, KubernetesClient client) {
    return client
        .discovery()
        .v1()
        .endpointSlices()
        .inNamespace(namespace)
        .withLabel("kubernetes.io/service-name", service)
        .list()
        .getItems()
        .stream()
        .flatMap(slice -> Stream.ofNullable(slice.getEndpoints()).flatMap(List::stream))
        .filter(endpoint -> endpoint.getTargetRef() != null && isReady(endpoint))
        .findFirst()
        .map(
            endpoint ->
                "pod %s is ready behind Service %s/%s, which answers webhooks"
                    .formatted(endpoint.getTargetRef().getName(), namespace, service));
  }

  /** The API asks its readers to take an unknown condition for ready. */
  private static boolean isReady(Endpoint endpoint) {
    return endpoint.getConditions() == null
        || !Boolean.FALSE.equals(endpoint.getConditions().getReady());
  }

  private void tell(String line) {
    PrintWriter err = spec.commandLine().getErr();
    err.println("sluice: " + line);
    err.flush();
  }
}
