package dev.sluice.checks.multikueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.cli.controlplane.ControlPlane;
import dev.sluice.cli.process.OperatorProcess;
import dev.sluice.cli.process.OperatorSettings;
import dev.sluice.testing.FurtherControlPlane;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.APIResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.awaitility.core.ThrowingRunnable;
import org.jspecify.annotations.Nullable;

/**
 * A manager and its workers, of the scenario of many clusters: a control plane and an operator for
 * each. Jobs of kinds that nothing here runs are played by the test.
 */
final class Federation implements AutoCloseable {

  static final String NAMESPACE = "physics";
  private static final Duration LIMIT = Duration.ofSeconds(120);
  private static final String SCENARIO = "/scenarios/multi-cluster/";

  private final KubernetesClient manager;
  private final Map<String, FurtherControlPlane> workers = new TreeMap<>();
  private final List<AutoCloseable> opened = new ArrayList<>();
  private Path log = Path.of("");

  private Federation(KubernetesClient manager) {
    this.manager = manager;
  }

  /** Starts the operators: the manager's with these settings, and one in each new worker. */
  static Federation start(
      ControlPlane controlPlane, TestCluster cluster, String settings, List<String> workers) {
    Federation made = new Federation(cluster.client());
    made.log = made.operator("manager", cluster.kubeconfig(), controlPlane.logs(), settings);
    for (String name : workers) {
      FurtherControlPlane worker = FurtherControlPlane.start(name);
      made.workers.put(name, worker);
      made.opened.add(worker);
      var unused =
          made.operator(name, worker.controlPlane().kubeconfig(), worker.controlPlane().logs(), "");
      apply(worker.client(), text(SCENARIO + name + "/setup.yaml"));
    }
    return made;
  }

  private Path operator(String name, Path kubeconfig, Path logs, String settings) {
    OperatorProcess operator =
        OperatorProcess.start(
                name,
                kubeconfig,
                OperatorSettings.onFreePorts(new SecureRandom()).with(settings),
                logs,
                List.of())
            .awaitReady();
    opened.add(operator);
    return operator.log();
  }

  /** Makes the manager's queues, and has it connect to all workers by kubeconfigs in Secrets. */
  Federation connect() {
    workers.forEach(
        (name, worker) ->
            manager
                .resource(
                    new SecretBuilder()
                        .withNewMetadata()
                        .withName(name + "-kubeconfig")
                        .withNamespace("kueue-system")
                        .endMetadata()
                        .withStringData(Map.of("kubeconfig", worker.kubeconfig()))
                        .build())
                .create());
    apply(manager, text(SCENARIO + "manager/setup.yaml"));
    awaitConnected();
    return this;
  }

  void awaitConnected() {
    eventually(
        () ->
            assertThat(manager.resources(MultiKueueCluster.class).list().getItems())
                .filteredOn(each -> workers.containsKey(each.getMetadata().getName()))
                .hasSize(workers.size())
                .allSatisfy(
                    each -> {
                      assertThat(each.getStatus()).isNotNull();
                      assertThat(each.getStatus().conditions().getFirst().getStatus())
                          .isEqualTo("True");
                    }));
  }

  KubernetesClient manager() {
    return manager;
  }

  FurtherControlPlane control(String name) {
    return Objects.requireNonNull(workers.get(name), name);
  }

  KubernetesClient worker(String name) {
    return control(name).client();
  }

  /** What the manager's operator has logged. */
  String managerLog() throws IOException {
    return Files.readString(log);
  }

  static void apply(KubernetesClient client, String yaml) {
    var unused =
        client
            .load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
            .serverSideApply();
  }

  static String text(String resource) {
    try (InputStream in = Federation.class.getResourceAsStream(resource)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  static void eventually(ThrowingRunnable assertion) {
    await().atMost(LIMIT).pollInterval(Duration.ofMillis(250)).untilAsserted(assertion);
  }

  /** Serves a kind whose objects may have any fields. */
  static void define(KubernetesClient client, String group, String version, String kind) {
    String singular = kind.toLowerCase(Locale.ROOT);
    apply(
        client,
        """
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: %2$ss.%1$s}
        spec:
          group: %1$s
          scope: Namespaced
          names: {kind: %4$s, plural: %2$ss, singular: %2$s, listKind: %4$sList}
          versions:
          - name: %3$s
            served: true
            storage: true
            subresources: {status: {}}
            schema:
              openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
        """
            .formatted(group, singular, version, kind));
    eventually(
        () ->
            assertThat(client.getApiResources(group + "/" + version))
                .isNotNull()
                .satisfies(
                    served ->
                        assertThat(served.getResources())
                            .extracting(APIResource::getKind)
                            .contains(kind)));
  }

  static @Nullable GenericKubernetesResource find(
      KubernetesClient client, String apiVersion, String kind, String name) {
    return client
        .genericKubernetesResources(apiVersion, kind)
        .inNamespace(NAMESPACE)
        .withName(name)
        .get();
  }

  @Override
  public void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }
}
