package dev.sluice.lab.controlplane;

import dev.sluice.lab.controlplane.ControlPlane.Endpoints;
import dev.sluice.lab.controlplane.StateFile.Layout;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.controlplane.binaries.Program;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The command line of each program of one control plane. */
final class ProcessArguments {

  /** The address of the service {@code kubernetes}. */
  static final String FIRST_SERVICE_ADDRESS = "10.96.0.1";

  /** An address of this machine where nothing listens. */
  private static final String NOBODY = "http://127.0.0.1:1";

  private static final String AGGREGATOR_ROUTING = "--enable-aggregator-routing=true";
  private static final String FEATURE_GATES = "--feature-gates=";
  private static final String SERVICE_RANGE = "10.96.0.0/16";
  private static final String POD_RANGE = "10.64.0.1/10";
  private static final long STORE_LIMIT_BYTES = 8L << 30;

  private final Binaries binaries;
  private final ControlPlaneSpec spec;
  private final Layout layout;
  private final Endpoints endpoints;

  ProcessArguments(Binaries binaries, ControlPlaneSpec spec, Layout layout, Endpoints endpoints) {
    this.binaries = binaries;
    this.spec = spec;
    this.layout = layout;
    this.endpoints = endpoints;
  }

  List<String> of(Program program) {
    List<String> command = new ArrayList<>();
    command.add(binaries.file(program).toString());
    command.addAll(
        switch (program) {
          case ETCD -> store();
          case API_SERVER -> apiServer();
          case CONTROLLER_MANAGER -> controllerManager();
          case SCHEDULER -> scheduler();
          case KWOK -> kwok();
        });
    return command;
  }

  /** The addresses of this machine, each after a comma; none if they can't be read. */
  private static String ownAddresses() {
    try {
      return NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
          .map(address -> "," + address.getHostAddress())
          .collect(Collectors.joining());
    } catch (SocketException unknown) {
      return "";
    }
  }

  /**
   * Variables of every program's environment. Go programs send requests to other hosts than the
   * loopback address through the proxy that these name. Nothing listens there, so such a request
   * fails at once, before any name is looked up: a webhook's Service, which would otherwise be
   * asked of the machine's name server or connected to at an address of somebody else's network.
   *
   * <p>With aggregator routing the API server connects to the endpoints that somebody wrote for a
   * Service; these are reached, and so are this machine's own addresses, by which it looks whether
   * an aggregated API is there.
   */
  Map<String, String> environment() {
    String exempt =
        spec.apiServerArguments().contains(AGGREGATOR_ROUTING) ? ".svc" + ownAddresses() : "";
    Map<String, String> environment = new HashMap<>();
    for (String name : List.of("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")) {
      environment.put(name, NOBODY);
    }
    environment.put("NO_PROXY", exempt);
    environment.put("no_proxy", exempt);
    return environment;
  }

  private List<String> store() {
    return List.of(
        "--name=sluice",
        "--data-dir=" + layout.store(),
        "--listen-client-urls=" + endpoints.storeUri(),
        "--advertise-client-urls=" + endpoints.storeUri(),
        "--listen-peer-urls=" + endpoints.storePeerUri(),
        "--initial-advertise-peer-urls=" + endpoints.storePeerUri(),
        "--initial-cluster=sluice=" + endpoints.storePeerUri(),
        "--quota-backend-bytes=" + STORE_LIMIT_BYTES,
        "--unsafe-no-fsync=" + !spec.syncedWrites(),
        "--log-level=warn");
  }

  private List<String> apiServer() {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(
        List.of(
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            // an Endpoints object must not contain a loopback address
            "--endpoint-reconciler-type=none",
            "--secure-port=" + endpoints.apiServer(),
            "--etcd-servers=" + endpoints.storeUri(),
            "--authorization-mode=Node,RBAC",
            "--allow-privileged=true",
            "--service-cluster-ip-range=" + SERVICE_RANGE,
            "--tls-cert-file=" + key("apiserver.crt"),
            "--tls-private-key-file=" + key("apiserver.key"),
            "--client-ca-file=" + key("ca.crt")));
    arguments.addAll(
        List.of(
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=" + key("sa.pub"),
            "--service-account-signing-key-file=" + key("sa.key")));
    arguments.addAll(
        List.of(
            "--requestheader-client-ca-file=" + key("front-proxy-ca.crt"),
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-username-headers=X-Remote-User",
            "--proxy-client-cert-file=" + key("front-proxy-client.crt"),
            "--proxy-client-key-file=" + key("front-proxy-client.key")));
    arguments.addAll(spec.apiServerArguments());
    return arguments;
  }

  /** The feature gates of the API server, which the programs beside it are to have as well. */
  private List<String> withFeatureGates(String... arguments) {
    return Stream.concat(
            Stream.of(arguments),
            spec.apiServerArguments().stream().filter(it -> it.startsWith(FEATURE_GATES)))
        .toList();
  }

  private List<String> controllerManager() {
    return withFeatureGates(
        "--kubeconfig=" + layout.kubeconfig(Program.CONTROLLER_MANAGER),
        "--secure-port=0",
        "--leader-elect=false",
        "--use-service-account-credentials=true",
        "--service-account-private-key-file=" + key("sa.key"),
        "--root-ca-file=" + key("ca.crt"),
        "--cluster-signing-cert-file=" + key("ca.crt"),
        "--cluster-signing-key-file=" + key("ca.key"),
        // simulated nodes do not fail; a slow machine must not mark them as failed
        "--node-monitor-grace-period=10m",
        "--kube-api-qps=500",
        "--kube-api-burst=1000");
  }

  private List<String> scheduler() {
    return withFeatureGates(
        "--kubeconfig=" + layout.kubeconfig(Program.SCHEDULER),
        "--secure-port=0",
        "--leader-elect=false",
        "--kube-api-qps=500",
        "--kube-api-burst=1000");
  }

  private List<String> kwok() {
    return List.of(
        "--kubeconfig=" + layout.kubeconfig(Program.KWOK),
        "--config=" + layout.kwokConfiguration(),
        "--manage-nodes-with-annotation-selector=" + FakeNodes.ANNOTATION + "=fake",
        "--node-lease-duration-seconds=240",
        "--cidr=" + POD_RANGE);
  }

  private Path key(String file) {
    return layout.key(file);
  }
}
