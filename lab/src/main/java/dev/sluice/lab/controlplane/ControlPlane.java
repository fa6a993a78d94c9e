package dev.sluice.lab.controlplane;

import dev.sluice.lab.controlplane.StateFile.Layout;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.DirectoryTree;
import dev.sluice.lab.controlplane.binaries.Program;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;

/**
 * A control plane that this process started, created by {@link ControlPlanes}. It can be used,
 * disturbed on purpose, and stopped. Thread-safe.
 */
public final class ControlPlane implements AutoCloseable {

  /** The user of the kubeconfig that people get. */
  public static final String ADMINISTRATOR = "sluice-admin";

  private static final Duration GRACE = Duration.ofSeconds(1);
  private static final Duration DEATH = Duration.ofSeconds(10);

  private final ControlPlaneSpec spec;
  private final Layout layout;
  private final Endpoints endpoints;
  private final ProcessArguments processArguments;
  private final Poller poller;
  private final StateFile state;
  private final ProcessLauncher launcher;
  private final Map<Program, ManagedProcess> processes = new EnumMap<>(Program.class);
  private boolean stopped;

  ControlPlane(
      ControlPlaneSpec spec,
      Layout layout,
      Endpoints endpoints,
      ProcessArguments processArguments,
      Poller poller,
      StateFile state) {
    this.spec = spec;
    this.layout = layout;
    this.endpoints = endpoints;
    this.processArguments = processArguments;
    this.poller = poller;
    this.state = state;
    this.launcher = new ProcessLauncher(spec.lifetime());
  }

  /** The name of the control plane. */
  public String name() {
    return spec.name();
  }

  /** The address of the API server. */
  public URI server() {
    return endpoints.server();
  }

  /** The address of the store, for readers of its history. */
  public URI store() {
    return endpoints.storeUri();
  }

  /** A kubeconfig of an administrator; the file is removed when the control plane is stopped. */
  public Path kubeconfig() {
    return layout.kubeconfig();
  }

  /** The directory of all log files. */
  public Path logs() {
    return layout.logs();
  }

  /** The process that runs a program now; a restart replaces it. */
  public synchronized ManagedProcess process(Program program) {
    ManagedProcess process = processes.get(program);
    if (process == null) {
      throw new IllegalStateException(program.file() + " was not started");
    }
    return process;
  }

  /** Starts all programs, creates the nodes, and returns when the control plane is ready. */
  void start() {
    launch(Program.ETCD);
    launch(Program.API_SERVER);
    try (KubernetesClient client = ApiClients.once(layout.kubeconfig())) {
      awaitApiServer(client);
      if (!spec.controllers()) {
        return;
      }
      launch(Program.CONTROLLER_MANAGER);
      launch(Program.SCHEDULER);
      launch(Program.KWOK);
      FakeNodes.all(spec.nodes()).forEach(node -> create(client, node));
      awaitServiceAccount(client);
      awaitNodes(client);
    }
  }

  /** Kills a program, as a crash would; returns when it has ended. */
  public synchronized void crash(Program program) {
    ManagedProcess process = process(program);
    process.kill();
    if (!process.awaitEnd(DEATH)) {
      throw new ControlPlaneException(process + " can't be killed");
    }
  }

  /**
   * Starts an ended program again with the same arguments and port; returns when the API server is
   * ready.
   */
  public void startAgain(Program program) {
    if (process(program).isAlive()) {
      throw new IllegalStateException(process(program) + " runs");
    }
    launch(program);
    if (program == Program.API_SERVER) {
      try (KubernetesClient client = ApiClients.once(layout.kubeconfig())) {
        awaitApiServer(client);
      }
    }
  }

  /** Kills a program and starts it again. */
  public void restart(Program program) {
    crash(program);
    startAgain(program);
  }

  /** Stops all programs and removes all files; idempotent. */
  public synchronized void stop() {
    if (stopped) {
      return;
    }
    stopped = true;
    end(processes.values());
    try {
      if (Files.exists(layout.directory())) {
        DirectoryTree.delete(layout.directory());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Equivalent to {@link #stop}. */
  @Override
  public void close() {
    stop();
  }

  /** Terminates all processes and kills those that do not end within the grace period. */
  static void end(Iterable<ManagedProcess> processes) {
    List<ManagedProcess> left = new ArrayList<>();
    processes.forEach(left::add);
    left.forEach(ManagedProcess::terminate);
    // one grace period for all processes: it runs while the first process is awaited
    left.stream().filter(ManagedProcess::isAlive).findFirst().ifPresent(p -> p.awaitEnd(GRACE));
    left.forEach(ManagedProcess::kill);
    left.forEach(process -> process.awaitEnd(DEATH));
  }

  private synchronized void launch(Program program) {
    if (stopped) {
      throw new ControlPlaneException("control plane " + name() + " is stopped");
    }
    processes.put(
        program,
        launcher.start(
            program.file(),
            processArguments.of(program),
            layout.log(program),
            processArguments.environment()));
    state.write(processes);
  }

  private void awaitApiServer(KubernetesClient client) {
    poller.await(
        "the API server was ready",
        List.of(process(Program.API_SERVER), process(Program.ETCD)),
        () -> isReady(client));
  }

  private static boolean isReady(KubernetesClient client) {
    try {
      return "ok".equals(client.raw("/readyz"));
    } catch (KubernetesClientException notYet) {
      return false;
    }
  }

  private void create(KubernetesClient client, Node node) {
    poller.await(
        "node " + node.getMetadata().getName() + " was created",
        List.of(process(Program.API_SERVER), process(Program.ETCD)),
        () -> holds(() -> isCreated(client, node)));
  }

  private static boolean isCreated(KubernetesClient client, Node node) {
    try {
      client.resource(node).create();
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw e;
      }
      // an earlier request was carried out although its response was late
    }
    return true;
  }

  /**
   * Whether a condition holds. It does not yet, if the API server is too slow to respond: a machine
   * on which several control planes start at once may need more than the time of a request.
   */
  private static boolean holds(BooleanSupplier condition) {
    try {
      return condition.getAsBoolean();
    } catch (KubernetesClientException e) {
      if (e.getCode() == 0 || e.getCode() >= HttpURLConnection.HTTP_INTERNAL_ERROR) {
        return false;
      }
      throw e;
    }
  }

  /**
   * Pods can be created only once the service account exists; its existence also shows that the
   * controllers work.
   */
  private void awaitServiceAccount(KubernetesClient client) {
    poller.await(
        "there was a default service account",
        List.of(process(Program.CONTROLLER_MANAGER), process(Program.API_SERVER)),
        () ->
            holds(
                () ->
                    client.serviceAccounts().inNamespace("default").withName("default").get()
                        != null));
  }

  private void awaitNodes(KubernetesClient client) {
    poller.await(
        "all nodes were ready",
        List.of(process(Program.KWOK), process(Program.API_SERVER)),
        () ->
            holds(() -> client.nodes().list().getItems().stream().allMatch(ControlPlane::isReady)));
  }

  private static boolean isReady(Node node) {
    return node.getStatus().getConditions().stream()
        .anyMatch(
            condition ->
                condition.getType().equals("Ready") && condition.getStatus().equals("True"));
  }

  /**
   * The loopback ports of one control plane.
   *
   * @param apiServer HTTPS port of the API server
   * @param store port of the store for the API server
   * @param storePeer peer port that etcd requires
   */
  record Endpoints(int apiServer, int store, int storePeer) {

    /** Three different ports that are free now. */
    static Endpoints free(RandomGenerator random) {
      List<Integer> ports = FreePorts.choose(3, random);
      return new Endpoints(ports.get(0), ports.get(1), ports.get(2));
    }

    URI server() {
      return URI.create("https://127.0.0.1:" + apiServer);
    }

    URI storeUri() {
      return URI.create("http://127.0.0.1:" + store);
    }

    URI storePeerUri() {
      return URI.create("http://127.0.0.1:" + storePeer);
    }
  }

  /** Finds loopback ports for servers that may be restarted. */
  public static final class FreePorts {

    /**
     * Below the range of ephemeral ports, so that a port stays free while its server is restarted.
     */
    private static final int FIRST = 20_000;

    private static final int LAST = 32_000;

    private FreePorts() {}

    /** The given number of different ports that are free now. */
    public static List<Integer> choose(int count, RandomGenerator random) {
      List<Integer> ports = new ArrayList<>();
      while (ports.size() < count) {
        int candidate = random.nextInt(FIRST, LAST);
        if (!ports.contains(candidate) && isFree(candidate)) {
          ports.add(candidate);
        }
      }
      return List.copyOf(ports);
    }

    private static boolean isFree(int port) {
      InetAddress loopback = InetAddress.getLoopbackAddress();
      try (ServerSocket socket = new ServerSocket(port, 1, loopback)) {
        return socket.isBound();
      } catch (BindException taken) {
        return false;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
