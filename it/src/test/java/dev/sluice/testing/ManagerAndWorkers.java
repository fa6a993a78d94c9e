package dev.sluice.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.install.InstallManifests;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.FakeNodes;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.binaries.Program;
import dev.sluice.lab.process.OperatorAccount;
import dev.sluice.lab.process.OperatorSettings;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The control planes of a manager and its two workers, with an operator in each. The manager is
 * connected to both workers, and is the worker {@link #HERE} of its own besides.
 */
public final class ManagerAndWorkers implements AutoCloseable {

  /** A small worker, in region {@code eu}. */
  public static final String ONSITE = "onsite";

  /** A large worker, in region {@code us} and tier {@code gpu}, with a node of eight GPUs. */
  public static final String REMOTE = "remote";

  /** The manager as a worker. */
  public static final String HERE = "here";

  /** The workers that aren't the manager. */
  public static final List<String> WORKERS = List.of(ONSITE, REMOTE);

  private static final String MANAGER = "manager";

  private final Map<String, RunningControlPlane> planes = new ConcurrentHashMap<>();
  private final Map<String, LocalOperator> operators = new ConcurrentHashMap<>();
  private final Map<String, Integer> reconnections = new ConcurrentHashMap<>();
  private final Options options;

  /**
   * What is started.
   *
   * @param manager fields of the configuration of the manager's operator, as YAML
   * @param worker the same of the workers' operators
   * @param controllers false: no nodes and no pods, see {@link ControlPlaneTest#controllers}
   */
  public record Options(String manager, String worker, boolean controllers) {}

  private ManagerAndWorkers(Options options) {
    this.options = options;
  }

  /** Starts them; the manager is connected to both workers when this returns. */
  public static ManagerAndWorkers start(Options options) {
    ManagerAndWorkers clusters = new ManagerAndWorkers(options);
    boolean ready = false;
    try {
      clusters.startAll();
      ready = true;
      return clusters;
    } finally {
      if (!ready) {
        clusters.close();
      }
    }
  }

  private void startAll() {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      CompletableFuture.allOf(
              CompletableFuture.runAsync(() -> startOne(MANAGER, options.manager()), threads),
              CompletableFuture.runAsync(() -> startOne(ONSITE, options.worker()), threads),
              CompletableFuture.runAsync(() -> startOne(REMOTE, options.worker()), threads))
          .join();
    }
    if (options.controllers()) {
      FakeNodes.of(NodeGroup.plentiful("gpu", 1).withCapacity("nvidia.com/gpu", "8"))
          .forEach(node -> worker(REMOTE).resource(node).create());
    }
    MultiCluster.applyTo(manager(), rightsOnFlows(InstallManifests.SERVICE_ACCOUNT, "[get]"));
    for (String worker : WORKERS) {
      giveAccess(worker, kubeconfig(worker));
      MultiCluster.applyTo(
          worker(worker),
          rightsOnFlows(
              InstallManifests.WORKER_ACCOUNT, "[create, delete, get, list, patch, watch]"));
    }
    MultiCluster.applyTo(
        manager(),
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: MultiKueueCluster
        metadata: {name: onsite, labels: {topology.kubernetes.io/region: eu}}
        spec: {clusterSource: {kubeConfig: {locationType: Secret, location: onsite-kubeconfig}}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: MultiKueueCluster
        metadata: {name: remote, labels: {topology.kubernetes.io/region: us, tier: gpu}}
        spec: {clusterSource: {kubeConfig: {locationType: Secret, location: remote-kubeconfig}}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: MultiKueueCluster
        metadata: {name: here}
        spec:
          clusterSource:
            kubeConfig: {locationType: Secret, location: sluice.dev/this-cluster}
        """);
    WORKERS.forEach(this::awaitConnected);
  }

  /** Rights on a kind of {@code externalFrameworks}, which administrators give. */
  private static String rightsOnFlows(String account, String verbs) {
    return """
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: flows}
        rules:
        - {apiGroups: [example.org], resources: [flows], verbs: %s}
        - {apiGroups: [example.org], resources: [flows/status], verbs: [patch]}
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: flows}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: flows}
        subjects: [{kind: ServiceAccount, name: %s, namespace: kueue-system}]
        """
        .formatted(verbs, account);
  }

  private void startOne(String name, String configuration) {
    RunningControlPlane plane =
        options.controllers()
            ? RunningControlPlane.start(name)
            : RunningControlPlane.startWithoutControllers(name);
    planes.put(name, plane);
    startOperator(name, configuration);
  }

  private void startOperator(String name, String configuration) {
    RunningControlPlane plane = plane(name);
    operators.put(
        name,
        LocalOperator.start(
            "operator-of-" + plane.controlPlane().name(),
            plane.controlPlane().kubeconfig(),
            OperatorSettings.onFreePorts(new SecureRandom()).with(configuration)));
  }

  /** Of the account that is meant for managers: what it may do is enough. */
  private String kubeconfig(String worker) {
    return OperatorAccount.kubeconfigForManager(worker(worker));
  }

  private void giveAccess(String worker, String kubeconfig) {
    manager()
        .resource(
            new SecretBuilder()
                .withNewMetadata()
                .withName(worker + "-kubeconfig")
                .withNamespace("kueue-system")
                .endMetadata()
                .withStringData(Map.of("kubeconfig", kubeconfig))
                .build())
        .fieldManager("test")
        .forceConflicts()
        .serverSideApply();
  }

  private void awaitConnected(String worker) {
    MultiCluster.eventually(
        () ->
            assertThat(
                    manager()
                        .resources(MultiKueueCluster.class)
                        .withName(worker)
                        .require()
                        .getStatus())
                .isNotNull()
                .satisfies(
                    status ->
                        assertThat(status.conditions())
                            .singleElement()
                            .satisfies(
                                active -> assertThat(active.getStatus()).isEqualTo("True"))));
  }

  private RunningControlPlane plane(String name) {
    return Objects.requireNonNull(planes.get(name), name);
  }

  /** Whether there are nodes, and something that makes pods and service accounts. */
  boolean controllers() {
    return options.controllers();
  }

  /** A client of the manager with all rights; don't close it. */
  public KubernetesClient manager() {
    return plane(MANAGER).client();
  }

  /** Where the manager's operator serves its metrics. */
  public MetricsEndpoint managerMetrics() {
    LocalOperator operator = Objects.requireNonNull(operators.get(MANAGER));
    return new MetricsEndpoint(manager(), operator.settings().metricsPort());
  }

  /** A client of a worker with all rights; don't close it. */
  public KubernetesClient worker(String name) {
    return plane(name).client();
  }

  /** Stops the manager's operator, and starts another one after what happens meanwhile. */
  public void restartManager(Runnable meanwhile) {
    Objects.requireNonNull(operators.remove(MANAGER)).close();
    try {
      meanwhile.run();
    } finally {
      startOperator(MANAGER, options.manager());
    }
  }

  /** A share of these clusters that has no objects yet; to be closed. */
  public MultiCluster share() {
    return new MultiCluster(this, Suffixes.next());
  }

  /**
   * Stops a worker's operator and kills its API server. The operator lets its lease go, so that the
   * next one need not wait for it.
   */
  public void cutOff(String worker) {
    Objects.requireNonNull(operators.remove(worker)).close();
    plane(worker).controlPlane().crash(Program.API_SERVER);
  }

  /**
   * Has both run again; the manager is connected to it when this returns. Its kubeconfig is changed
   * to another writing of the same address: so the manager connects at once, and not at its next
   * attempt.
   */
  public void reconnect(String worker) {
    ControlPlane plane = plane(worker).controlPlane();
    plane.startAgain(Program.API_SERVER);
    startOperator(worker, options.worker());
    String slashes = "/".repeat(reconnections.merge(worker, 1, Integer::sum) % 2);
    giveAccess(
        worker, kubeconfig(worker).replace(plane.server().toString(), plane.server() + slashes));
    awaitConnected(worker);
  }

  /** Takes the manager's access to a worker away, while the worker runs. */
  public void dismiss(String worker) {
    manager().secrets().inNamespace("kueue-system").withName(worker + "-kubeconfig").delete();
  }

  /** Gives it back; the manager is connected when this returns. */
  public void employ(String worker) {
    giveAccess(worker, kubeconfig(worker));
    awaitConnected(worker);
  }

  @Override
  public void close() {
    operators.values().forEach(LocalOperator::close);
    planes.values().forEach(RunningControlPlane::close);
  }
}
