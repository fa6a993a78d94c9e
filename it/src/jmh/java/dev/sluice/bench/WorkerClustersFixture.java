package dev.sluice.bench;

import static org.awaitility.Awaitility.await;

import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.AdditionalControlPlane;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;

/** A manager and its workers, of which some are simulated and some may be real. */
final class WorkerClustersFixture implements AutoCloseable {

  private static final Duration LIMIT = Duration.ofSeconds(200);

  private final AdditionalControlPlane manager = AdditionalControlPlane.start("manager");
  private final KubernetesClient client = manager.client();
  private final OperatorProcess operator = operator("manager", manager);
  private final List<AutoCloseable> opened = new ArrayList<>();
  private final Map<String, Long> started = new ConcurrentHashMap<>();

  /** Of the manager, with all rights. */
  KubernetesClient client() {
    return client;
  }

  /** The process of the manager's operator. */
  long pid() {
    return operator.pid();
  }

  /** When Jobs arrived in real workers, in nanoseconds of {@link System#nanoTime}, by name. */
  Map<String, Long> started() {
    return started;
  }

  private static OperatorProcess operator(String name, AdditionalControlPlane cluster) {
    return OperatorProcess.start(
            name,
            cluster.controlPlane().kubeconfig(),
            OperatorSettings.onFreePorts(new SecureRandom()),
            cluster.controlPlane().logs(),
            List.of())
        .awaitReady();
  }

  /** Starts a worker that is to be connected. */
  void realWorker(String name) {
    AdditionalControlPlane worker = AdditionalControlPlane.start(name);
    opened.add(worker);
    opened.add(operator(name, worker));
    apply(worker.client(), queues(""));
    opened.add(worker.client().batch().v1().jobs().inNamespace("bench").inform(new Arrivals()));
    secret(name, worker.kubeconfig());
  }

  private final class Arrivals implements ResourceEventHandler<Job> {
    @Override
    public void onAdd(Job job) {
      started.putIfAbsent(job.getMetadata().getName(), System.nanoTime());
    }

    @Override
    public void onUpdate(Job before, Job after) {
      started.putIfAbsent(after.getMetadata().getName(), System.nanoTime());
    }

    @Override
    public void onDelete(Job job, boolean unknown) {
      started.putIfAbsent(job.getMetadata().getName(), System.nanoTime());
    }
  }

  private static String queues(String checks) {
    return """
    apiVersion: v1
    kind: Namespace
    metadata: {name: bench}
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ResourceFlavor
    metadata: {name: default}
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ClusterQueue
    metadata: {name: cq}
    spec:
      namespaceSelector: {}
      resourceGroups:
      - coveredResources: [cpu]
        flavors: [{name: default, resources: [{name: cpu, nominalQuota: 1000}]}]
      %s
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: LocalQueue
    metadata: {name: q, namespace: bench}
    spec: {clusterQueue: cq}
    """
        .formatted(checks);
  }

  /** Connects the manager to workers, up to 20 of which Jobs may go to. */
  void connect(SimulatedWorkers simulated, int workers, int real) throws Exception {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      secret("simulated-" + i, simulated.kubeconfig(i));
      names.add("simulated-" + i);
    }
    for (int i = 0; i < real; i++) {
      names.add("real-" + i);
    }
    for (String name : names) {
      apply(
          client,
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: MultiKueueCluster
          metadata: {name: %1$s}
          spec: {clusterSource: {kubeConfig: {location: %1$s}}}
          """
              .formatted(name));
    }
    apply(
        client,
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: MultiKueueConfig
        metadata: {name: all}
        spec: {clusters: [%s]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: AdmissionCheck
        metadata: {name: all}
        spec:
          controllerName: kueue.x-k8s.io/multikueue
          parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: all}
        """
            .formatted(String.join(", ", names.subList(0, Math.min(20, names.size())))));
    apply(client, queues("admissionChecksStrategy: {admissionChecks: [{name: all}]}"));
    until(
        () ->
            client
                    .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "MultiKueueCluster")
                    .list()
                    .getItems()
                    .stream()
                    .filter(it -> "True".equals(it.get("status", "conditions", 0, "status")))
                    .count()
                == names.size());
    until(
        () ->
            "True"
                .equals(
                    client
                        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "ClusterQueue")
                        .withName("cq")
                        .require()
                        .get("status", "conditions", 0, "status")));
  }

  private void secret(String name, String kubeconfig) {
    apply(
        client,
        """
        apiVersion: v1
        kind: Secret
        metadata: {name: %s, namespace: kueue-system}
        data: {kubeconfig: %s}
        """
            .formatted(
                name,
                Base64.getEncoder().encodeToString(kubeconfig.getBytes(StandardCharsets.UTF_8))));
  }

  /** Applies objects. */
  static void apply(KubernetesClient client, String yaml) {
    var unused =
        client
            .load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
            .serverSideApply();
  }

  /** Waits for it. */
  static void until(Callable<Boolean> condition) {
    await().atMost(LIMIT).pollInterval(Duration.ofMillis(200)).until(condition);
  }

  @Override
  public void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
    operator.close();
    manager.close();
  }
}
