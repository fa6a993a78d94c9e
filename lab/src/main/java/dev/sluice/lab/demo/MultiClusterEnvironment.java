package dev.sluice.lab.demo;

import dev.sluice.api.json.JsonMappers;
import dev.sluice.lab.audit.DuplicateRunDetector;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.ControlPlaneSpec;
import dev.sluice.lab.controlplane.ControlPlanes;
import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.TcpProxy;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.demo.MultiClusterScenario.MultiClusterManifests;
import dev.sluice.lab.demo.MultiClusterScenario.ScenarioClusters;
import dev.sluice.lab.process.OperatorAccount;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Three control planes with an operator each: a manager, and two workers that the manager reaches
 * through TCP proxies. Closing stops them, unless they are kept on request.
 */
public final class MultiClusterEnvironment implements AutoCloseable {

  private static final String OPERATOR_NAMESPACE = "kueue-system";
  private static final String MANAGER = "manager";
  private static final List<String> WORKERS =
      List.of(MultiClusterScenario.SITE, MultiClusterScenario.REMOTE);

  private final Binaries binaries;
  private final Lifetime lifetime;
  private final Duration lostTimeout;
  private final InstantSource clock;
  private final OperatorLauncher launcher;
  private final SecureRandom random = new SecureRandom();
  private final DuplicateRunDetector runs = new DuplicateRunDetector();
  private final Map<String, ControlPlane> controlPlanes = new ConcurrentSkipListMap<>();
  private final Map<String, AutoCloseable> operators = new ConcurrentSkipListMap<>();
  private final Map<String, TcpProxy> tcpProxies = new HashMap<>();
  private final Deque<AutoCloseable> observers = new ArrayDeque<>();
  private @Nullable ScenarioClusters clusters;

  /** Starts the operators of an environment. */
  @FunctionalInterface
  public interface OperatorLauncher {

    /** Starts one, and returns when it is ready; closing stops it. */
    AutoCloseable start(String name, ControlPlane controlPlane, OperatorSettings settings);
  }

  /**
   * Creates an environment, whose operators are processes, without starting it.
   *
   * @param lostTimeout the manager's {@code workerLostTimeout}
   */
  public MultiClusterEnvironment(
      Binaries binaries, Lifetime lifetime, Duration lostTimeout, InstantSource clock) {
    this(
        binaries,
        lifetime,
        lostTimeout,
        clock,
        (name, controlPlane, settings) ->
            OperatorProcess.start(
                    name,
                    controlPlane.kubeconfig(),
                    settings,
                    controlPlane.logs(),
                    List.of(),
                    lifetime)
                .awaitReady());
  }

  /** Creates an environment with operators of this launcher. */
  public MultiClusterEnvironment(
      Binaries binaries,
      Lifetime lifetime,
      Duration lostTimeout,
      InstantSource clock,
      OperatorLauncher launcher) {
    this.binaries = binaries;
    this.lifetime = lifetime;
    this.lostTimeout = lostTimeout;
    this.clock = clock;
    this.launcher = launcher;
  }

  /** Starts and configures everything; returns when the manager is connected to both workers. */
  public MultiClusterEnvironment start() {
    String suffix = Integer.toString(random.nextInt(1 << 24), 36);
    NodeGroup remoteNode =
        NodeGroup.plentiful(MultiClusterScenario.REMOTE, 1).withCapacity("nvidia.com/gpu", "8");
    startAll(
        List.of(
            () -> start(MANAGER, suffix, NodeGroup.plentiful("node", 1)),
            () ->
                start(
                    MultiClusterScenario.SITE,
                    suffix,
                    NodeGroup.plentiful(MultiClusterScenario.SITE, 1)),
            () -> start(MultiClusterScenario.REMOTE, suffix, remoteNode)));
    ScenarioMember manager = member(MANAGER);
    Map<String, ScenarioMember> workers = new TreeMap<>();
    for (String worker : WORKERS) {
      ScenarioMember member = member(worker);
      member.create(MultiClusterManifests.setup(worker));
      workers.put(worker, member);
      TcpProxy tcpProxy = TcpProxy.to(controlPlane(worker).server());
      tcpProxies.put(worker, tcpProxy);
      giveAccess(manager.client(), worker, member.client(), tcpProxy);
    }
    manager.create(MultiClusterManifests.setup(MANAGER));
    ScenarioClusters all = new ScenarioClusters(manager, new TreeMap<>(workers), tcpProxies, runs);
    new WorkerConnections(all).await();
    clusters = all;
    return this;
  }

  /** Runs all at the same time; throws what the first of them throws that fails. */
  private static void startAll(List<Runnable> starts) {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      CompletableFuture.allOf(
              starts.stream()
                  .map(start -> CompletableFuture.runAsync(start, threads))
                  .toArray(CompletableFuture[]::new))
          .join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw e;
    }
  }

  private void start(String name, String suffix, NodeGroup nodes) {
    ControlPlane controlPlane =
        new ControlPlanes(ControlPlanes.defaultRoot(System.getenv()), clock)
            .start(
                ControlPlaneSpec.named("demo-" + name + "-" + suffix)
                    .living(lifetime)
                    .withoutSyncedWrites()
                    .withNodes(List.of(nodes)),
                binaries);
    controlPlanes.put(name, controlPlane);
    OperatorSettings settings = OperatorSettings.onFreePorts(random);
    operators.put(
        name,
        launcher.start(
            "operator-" + name,
            controlPlane,
            name.equals(MANAGER) ? settings.with(managerSettings()) : settings));
  }

  private String managerSettings() {
    return """
    multiKueue:
      workerLostTimeout: %ds
      gcInterval: 10s
      dispatcherName: sluice.dev/multikueue-dispatcher-best-fit
    """
        .formatted(lostTimeout.toSeconds());
  }

  private ScenarioMember member(String name) {
    KubernetesClient client = ApiClients.patient(controlPlane(name).kubeconfig());
    observers.push(client);
    WatchRecorder recorder =
        new WatchRecorder(client, clock, objectChange -> runs.seen(name, objectChange)).start();
    observers.push(recorder);
    return new ScenarioMember(name, client, recorder);
  }

  private ControlPlane controlPlane(String name) {
    ControlPlane found = controlPlanes.get(name);
    if (found == null) {
      throw new IllegalStateException("control plane " + name + " was not started");
    }
    return found;
  }

  private void giveAccess(
      KubernetesClient manager, String worker, KubernetesClient there, TcpProxy tcpProxy) {
    manager
        .resource(
            new SecretBuilder()
                .withNewMetadata()
                .withName(worker + "-kubeconfig")
                .withNamespace(OPERATOR_NAMESPACE)
                .endMetadata()
                .withStringData(
                    Map.of(
                        "kubeconfig",
                        tcpProxy.redirect(OperatorAccount.kubeconfigForManager(there))))
                .build())
        .create();
  }

  /** The clusters, once everything was started. */
  ScenarioClusters clusters() {
    ScenarioClusters started = clusters;
    if (started == null) {
      throw new IllegalStateException("the stage was not started");
    }
    return started;
  }

  /** Runs the scenario, once. */
  public List<ExpectationResult> tell(ProgressListener progressListener) {
    return new MultiClusterScenario(clusters(), lostTimeout, progressListener, clock).tell();
  }

  /** Lines for users about what keeps running after this process and how to stop it. */
  List<String> whatStays() {
    List<String> lines = new ArrayList<>();
    controlPlanes.forEach(
        (name, controlPlane) -> {
          lines.add("%s: export KUBECONFIG=%s".formatted(name, controlPlane.kubeconfig()));
          lines.add("  to end it: ./sluice control-plane down --name " + controlPlane.name());
        });
    operators.forEach(
        (name, operator) -> {
          if (operator instanceof OperatorProcess process) {
            lines.add(
                "the operator of %s goes on as process %d, its log is %s"
                    .formatted(name, process.pid(), process.log()));
          }
        });
    lines.add("the manager's lines to the workers end with this command");
    return lines;
  }

  /** Stops observers; clusters and operators keep running if their lifetime says so. */
  @Override
  public void close() {
    for (AutoCloseable each : observers) {
      close(each);
    }
    tcpProxies.values().forEach(TcpProxy::close);
    if (lifetime == Lifetime.WITH_THIS_PROCESS) {
      operators.values().forEach(MultiClusterEnvironment::close);
      controlPlanes.values().forEach(ControlPlane::close);
    }
  }

  private static void close(AutoCloseable each) {
    try {
      each.close();
    } catch (Exception e) {
      throw new IllegalStateException("can't close " + each, e);
    }
  }

  /** Whether all workers are connected, according to the manager. */
  private static final class WorkerConnections {

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(90);
    private static final ResourceDefinitionContext KIND =
        new ResourceDefinitionContext.Builder()
            .withGroup("kueue.x-k8s.io")
            .withVersion("v1beta2")
            .withKind("MultiKueueCluster")
            .withPlural("multikueueclusters")
            .withNamespaced(false)
            .build();

    private final ScenarioClusters clusters;

    WorkerConnections(ScenarioClusters clusters) {
      this.clusters = clusters;
    }

    /**
     * Waits until all workers are connected.
     *
     * @throws ScenarioException when the time limit is exceeded
     */
    void await() {
      boolean connected =
          clusters
              .manager()
              .recorder()
              .await(CONNECT_TIMEOUT, () -> allConnected() ? Optional.of(true) : Optional.empty())
              .isPresent();
      if (!connected) {
        throw new ScenarioException(
            "the manager is not connected to its workers after %d s"
                .formatted(CONNECT_TIMEOUT.toSeconds()));
      }
    }

    private boolean allConnected() {
      return clusters.manager().client().genericKubernetesResources(KIND).list().getItems().stream()
              .filter(each -> ScenarioClusters.isTrue(JsonMappers.JSON.valueToTree(each), "Active"))
              .count()
          == clusters.workers().size();
    }
  }
}
