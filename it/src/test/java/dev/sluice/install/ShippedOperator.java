package dev.sluice.install;

import static org.awaitility.Awaitility.await;

import dev.sluice.app.JvmOptions;
import dev.sluice.app.Main;
import dev.sluice.lab.controlplane.ControlPlane.FreePorts;
import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.ManagedProcess;
import dev.sluice.lab.controlplane.ProcessLauncher;
import dev.sluice.lab.process.OperatorAccount;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.opentest4j.TestAbortedException;

/**
 * The operator as the shipped manifest runs it (its service account, its configuration, reached by
 * its Service), except that the process is one of this machine instead of a pod.
 */
final class ShippedOperator implements AutoCloseable {

  /** From this minor version on the API server finds a Service's pods by EndpointSlices. */
  private static final int FINDS_SLICES = 33;

  private static final Duration STOP_LIMIT = Duration.ofSeconds(20);

  private final List<Integer> ports = FreePorts.choose(4, new Random());
  private final TestCluster cluster;
  private final Path directory;
  private Optional<ManagedProcess> process = Optional.empty();

  ShippedOperator(TestCluster cluster, Path directory) {
    this.cluster = cluster;
    this.directory = directory;
  }

  int healthPort() {
    return ports.get(1);
  }

  int metricsPort() {
    return ports.get(2);
  }

  int explainPort() {
    return ports.get(3);
  }

  /** Applies the manifest, with the ports of this process and without pods, and starts. */
  void start() throws IOException {
    start("");
  }

  /** The same with a further field in the configuration; empty for none. */
  void start(String field) throws IOException {
    ServerSideApply apply = new ServerSideApply(cluster.client());
    apply.definitions();
    apply.apply(
        Files.readString(Path.of(InstallFiles.PLAIN))
            .replace("  replicas: 2\n", "  replicas: 0\n")
            .replace("      port: 9443\n", "      port: " + ports.get(0) + "\n")
            .replace("healthProbeBindAddress: :8081", "healthProbeBindAddress: :" + healthPort())
            .replace("bindAddress: :8443", "bindAddress: :" + metricsPort())
            .replace(
                "    webhook:\n",
                (field.isEmpty() ? "" : "    " + field + "\n")
                    + "    visibilityServer:\n      bindPort: "
                    + ports.get(3)
                    + "\n    webhook:\n"));
    run();
  }

  /** The chart's values that lead to the ports of this process, and let no pod run. */
  List<String> values() {
    return List.of(
        "--set",
        "replicas=0,config.webhook.port=%d,config.visibilityServer.bindPort=%d"
            .formatted(ports.get(0), explainPort()),
        "--set-string",
        "config.health.healthProbeBindAddress=:%d,config.metrics.bindAddress=:%d"
            .formatted(healthPort(), metricsPort()));
  }

  /** Starts with what is installed. */
  void run() throws IOException {
    leadTheServicesHere();
    Path configuration = directory.resolve("configuration.yaml");
    Files.writeString(
        configuration,
        cluster
            .client()
            .configMaps()
            .inNamespace(InstallManifests.NAMESPACE)
            .withName("kueue-manager-config")
            .require()
            .getData()
            .get("controller_manager_config.yaml"));
    process =
        Optional.of(
            new ProcessLauncher(Lifetime.WITH_THIS_PROCESS)
                .start("operator", command(configuration), log()));
  }

  private List<String> command(Path configuration) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JvmOptions.all());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.add("operator");
    command.addAll(
        List.of("--kubeconfig", kubeconfig(InstallManifests.SERVICE_ACCOUNT).toString()));
    command.addAll(List.of("--config", configuration.toString()));
    return command;
  }

  boolean isAlive() {
    return process.map(ManagedProcess::isAlive).orElse(false);
  }

  Path log() {
    return directory.resolve("operator.log");
  }

  /** Asks it to end; whether it did. */
  boolean stop() {
    return process
        .map(
            it -> {
              it.terminate();
              return it.awaitEnd(STOP_LIMIT);
            })
        .orElse(false);
  }

  /** A token of a service account in the operator's namespace. */
  String token(String serviceAccount) {
    return cluster
        .client()
        .serviceAccounts()
        .inNamespace(InstallManifests.NAMESPACE)
        .withName(serviceAccount)
        .tokenRequest(new TokenRequestBuilder().withNewSpec().endSpec().build())
        .getStatus()
        .getToken();
  }

  private Path kubeconfig(String serviceAccount) throws IOException {
    return Files.writeString(
        directory.resolve("kubeconfig"),
        OperatorAccount.kubeconfig(cluster.client(), token(serviceAccount)));
  }

  /** No kubelet runs pods here: the Services lead to this machine. */
  private void leadTheServicesHere() throws IOException {
    leadHere(InstallManifests.WEBHOOK_SERVICE, "webhook", ports.get(0));
    leadHere(InstallManifests.VISIBILITY_SERVICE, "https", explainPort());
  }

  private void leadHere(String service, String portName, int port) throws IOException {
    KubernetesClient client = cluster.client();
    client
        .resource(
            new EndpointSliceBuilder()
                .withNewMetadata()
                .withName(service + "-on-this-machine")
                .withNamespace(InstallManifests.NAMESPACE)
                .addToLabels("kubernetes.io/service-name", service)
                .endMetadata()
                .withAddressType("IPv4")
                .addNewEndpoint()
                .withAddresses(address().getHostAddress())
                .withNewConditions()
                .withReady(true)
                .endConditions()
                .endEndpoint()
                .addNewPort()
                .withName(portName)
                .withPort(port)
                .withProtocol("TCP")
                .endPort()
                .build())
        .serverSideApply();
    if (Integer.parseInt(client.getKubernetesVersion().getMinor()) < FINDS_SLICES) {
      endpointsLeadHere(service, portName, port);
    }
  }

  /** As the slice does; the controller of Endpoints makes them once, and they are ours then. */
  private void endpointsLeadHere(String service, String portName, int port) throws IOException {
    var endpoints =
        cluster.client().endpoints().inNamespace(InstallManifests.NAMESPACE).withName(service);
    await().atMost(Duration.ofMinutes(2)).until(() -> endpoints.get() != null);
    endpoints.patch(
        PatchContext.of(PatchType.JSON_MERGE),
        """
        {"subsets": [{"addresses": [{"ip": "%s"}],
          "ports": [{"name": "%s", "port": %d, "protocol": "TCP"}]}]}
        """
            .formatted(address().getHostAddress(), portName, port));
  }

  /** One by which this machine is known to itself; a Service can't lead to the loopback address. */
  private static InetAddress address() throws IOException {
    return NetworkInterface.networkInterfaces()
        .flatMap(NetworkInterface::inetAddresses)
        .filter(it -> it instanceof Inet4Address)
        .filter(it -> !it.isLoopbackAddress() && !it.isLinkLocalAddress())
        .findFirst()
        .orElseThrow(
            () ->
                new TestAbortedException(
                    "not tried: this machine has no address but that of the loop"));
  }

  @Override
  public void close() {
    if (isAlive() && !stop()) {
      process.ifPresent(ManagedProcess::kill);
    }
  }
}
