package dev.sluice.endtoend;

import static org.awaitility.Awaitility.await;

import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.lab.audit.StoreHistory;
import dev.sluice.lab.controlplane.TcpProxy;
import dev.sluice.lab.controlplane.binaries.Program;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.AdditionalControlPlane;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A manager's worker clusters, each with an operator, and two proxies through which the manager may
 * reach it. The manager's own operator is somebody else's.
 */
final class MultiClusterLoad implements AutoCloseable {

  static final String NAMESPACE = "fleet";

  /** CPUs of each worker. */
  static final int ROOM = 6;

  private final KubernetesClient manager;
  private final List<Worker> workers = new ArrayList<>();

  /** One worker cluster. */
  static final class Worker {
    private final String name;
    private final AdditionalControlPlane plane;
    private final List<TcpProxy> tcpProxies;
    private OperatorProcess operator;
    private int used;

    private Worker(String name, String... apiServerArguments) {
      this.name = name;
      this.plane = AdditionalControlPlane.start(name, apiServerArguments);
      this.tcpProxies =
          List.of(
              TcpProxy.to(plane.controlPlane().server()),
              TcpProxy.to(plane.controlPlane().server()));
      this.operator = startOperator();
    }

    private OperatorProcess startOperator() {
      return OperatorProcess.start(
          name,
          plane.controlPlane().kubeconfig(),
          OperatorSettings.onFreePorts(new SecureRandom())
              .withLeases(Duration.ofSeconds(15), Duration.ofSeconds(10), Duration.ofSeconds(2)),
          plane.controlPlane().logs(),
          List.of());
    }

    /** Its operator is killed as by {@code kill -9}, and another one started. */
    void restartOperator() {
      operator.kill();
      operator = startOperator();
      operator.awaitReady();
    }

    /** All that was ever written there, if its API server keeps that. */
    StoreHistory history() {
      return new StoreHistory(plane.controlPlane().store());
    }

    /** Whether the operator that was started last still runs. */
    boolean hasOperator() {
      return operator.isAlive();
    }

    /** The manager is neither answered nor refused any more, until it is mended. */
    void swallow() {
      tcpProxies.forEach(TcpProxy::blackhole);
    }

    String name() {
      return name;
    }

    KubernetesClient client() {
      return plane.client();
    }

    boolean isCut() {
      return tcpProxies.getFirst().isDisconnected();
    }

    void cut() {
      tcpProxies.forEach(TcpProxy::disconnect);
    }

    void mend() {
      tcpProxies.forEach(TcpProxy::restore);
    }

    /** The API server is away for as long as it takes to start. */
    void restartApiServer() {
      plane.controlPlane().restart(Program.API_SERVER);
    }

    private String kubeconfig() {
      return tcpProxies.get(used).redirect(plane.kubeconfig());
    }

    private void close() {
      operator.close();
      tcpProxies.forEach(TcpProxy::close);
      plane.close();
    }
  }

  /** Starts so many workers; {@code manager} has an operator that is ready. */
  MultiClusterLoad(KubernetesClient manager, int workers, String... apiServerArguments) {
    this.manager = manager;
    for (int i = 0; i < workers; i++) {
      this.workers.add(new Worker("worker-" + (char) ('a' + i), apiServerArguments));
    }
  }

  /** Makes queues everywhere, and waits until the manager is connected to all. */
  MultiClusterLoad setUp() {
    for (Worker worker : workers) {
      worker.operator.awaitReady();
      apply(worker.client(), queues(ROOM, ""));
      manager.resource(secret(worker)).create();
    }
    apply(
        manager,
        queues(ROOM * workers.size() * 2, "  admissionChecks: [{name: fleet}]\n")
            + """
            ---
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: AdmissionCheck
            metadata: {name: fleet}
            spec:
              controllerName: kueue.x-k8s.io/multikueue
              parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: fleet}
            ---
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: MultiKueueConfig
            metadata: {name: fleet}
            spec: {clusters: [%s]}
            """
                .formatted(workers.stream().map(Worker::name).collect(Collectors.joining(", ")))
            + workers.stream().map(MultiClusterLoad::cluster).collect(Collectors.joining()));
    await("connections").atMost(Duration.ofMinutes(5)).until(this::allConnected);
    return this;
  }

  private static String queues(int cpus, String checks) {
    return """
    apiVersion: v1
    kind: Namespace
    metadata: {name: %s}
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ResourceFlavor
    metadata: {name: plain}
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ClusterQueue
    metadata: {name: fleet}
    spec:
      namespaceSelector: {}
      resourceGroups:
      - coveredResources: [cpu]
        flavors:
        - name: plain
          resources: [{name: cpu, nominalQuota: %d}]
    %s---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: LocalQueue
    metadata: {name: main, namespace: %s}
    spec: {clusterQueue: fleet}
    """
        .formatted(
            NAMESPACE,
            cpus,
            checks.isEmpty() ? "" : "  admissionChecksStrategy:\n  " + checks,
            NAMESPACE);
  }

  private static String cluster(Worker worker) {
    return """
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: MultiKueueCluster
    metadata: {name: %s}
    spec:
      clusterSource:
        kubeConfig: {locationType: Secret, location: %s}
    """
        .formatted(worker.name(), worker.name());
  }

  private io.fabric8.kubernetes.api.model.Secret secret(Worker worker) {
    return new SecretBuilder()
        .withNewMetadata()
        .withName(worker.name())
        .withNamespace("kueue-system")
        .endMetadata()
        .withStringData(Map.of("kubeconfig", worker.kubeconfig()))
        .build();
  }

  private static void apply(KubernetesClient client, String yaml) {
    client
        .load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
        .items()
        .forEach(object -> client.resource(object).create());
  }

  boolean allConnected() {
    return manager.resources(MultiKueueCluster.class).list().getItems().stream()
            .filter(each -> each.getStatus() != null)
            .filter(
                each ->
                    each.getStatus().conditions().stream()
                        .anyMatch(it -> it.getStatus().equals("True")))
            .count()
        == workers.size();
  }

  List<Worker> workers() {
    return workers;
  }

  Worker worker(int index) {
    return workers.get(index);
  }

  /** Gives the manager the other one of two ways to a worker. */
  void rotateSecret(Worker worker) {
    worker.used = 1 - worker.used;
    manager.resource(secret(worker)).update();
  }

  /** All numbers of workers. */
  IntStream indices() {
    return IntStream.range(0, workers.size());
  }

  @Override
  public void close() {
    workers.forEach(Worker::close);
  }
}
