package dev.sluice.checks.multikueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.Workload;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.awaitility.core.ThrowingRunnable;

/** A manager and its workers, on control planes of their own; closed with the test. */
final class MultiClusterFixture implements AutoCloseable {

  static final String NAMESPACE = "physics";
  private static final Duration LIMIT = Duration.ofSeconds(120);

  private final KubernetesClient manager;
  private final Map<String, AdditionalControlPlane> workers = new TreeMap<>();
  private final List<AutoCloseable> opened = new ArrayList<>();

  /** A manager of whom no operator runs yet. */
  MultiClusterFixture(KubernetesClient manager) {
    this.manager = manager;
  }

  KubernetesClient manager() {
    return manager;
  }

  KubernetesClient worker(String name) {
    return control(name).client();
  }

  AdditionalControlPlane control(String name) {
    return Objects.requireNonNull(workers.get(name), name);
  }

  /** Starts an operator with these fields of a configuration. */
  OperatorProcess operator(String name, Path kubeconfig, Path logs, String settings) {
    OperatorProcess process =
        OperatorProcess.start(
                name,
                kubeconfig,
                OperatorSettings.onFreePorts(new SecureRandom()).with(settings),
                logs,
                List.of())
            .awaitReady();
    opened.add(process);
    return process;
  }

  /** Starts the control plane of a worker, and puts its kubeconfig into a Secret here. */
  AdditionalControlPlane join(String name) {
    AdditionalControlPlane worker = AdditionalControlPlane.start(name);
    workers.put(name, worker);
    opened.add(worker);
    manager
        .resource(
            new SecretBuilder()
                .withNewMetadata()
                .withName(name + "-kubeconfig")
                .withNamespace("kueue-system")
                .endMetadata()
                .withStringData(Map.of("kubeconfig", worker.kubeconfig()))
                .build())
        .create();
    return worker;
  }

  /** The same with an operator there. */
  AdditionalControlPlane joinAndOperate(String name) {
    return joinAndOperate(name, "");
  }

  /** The same with these fields of a configuration. */
  AdditionalControlPlane joinAndOperate(String name, String settings) {
    AdditionalControlPlane worker = join(name);
    operator(name, worker.controlPlane().kubeconfig(), worker.controlPlane().logs(), settings);
    return worker;
  }

  void awaitConnected(int clusters) {
    eventually(
        () ->
            assertThat(manager.resources(MultiKueueCluster.class).list().getItems())
                .hasSize(clusters)
                .allSatisfy(
                    each -> {
                      assertThat(each.getStatus()).isNotNull();
                      assertThat(each.getStatus().conditions().getFirst().getStatus())
                          .isEqualTo("True");
                    }));
  }

  static List<HasMetadata> apply(KubernetesClient client, String yaml) {
    return client
        .load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
        .serverSideApply();
  }

  /** The text of a file on the class path. */
  static String text(String resource) {
    try (InputStream in = MultiClusterFixture.class.getResourceAsStream(resource)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Waits for it; what it looks for may not be there yet. */
  static void eventually(ThrowingRunnable assertion) {
    await()
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(250))
        .ignoreException(NoSuchElementException.class)
        .untilAsserted(assertion);
  }

  /** The manager's job of this name. */
  Job job(String name) {
    return manager.batch().v1().jobs().inNamespace(NAMESPACE).withName(name).require();
  }

  /** The manager's Workload of a job. */
  Workload workload(String job) {
    return manager.resources(Workload.class).inNamespace(NAMESPACE).list().getItems().stream()
        .filter(it -> it.getMetadata().getOwnerReferences().getFirst().getName().equals(job))
        .findFirst()
        .orElseThrow();
  }

  /** The cluster that a job runs in, by what its Workload says; empty while it runs nowhere. */
  String cluster(String job) {
    return Optional.ofNullable(workload(job).getStatus())
        .flatMap(status -> Optional.ofNullable(status.clusterName()))
        .orElse("");
  }

  /** The message of the first check of a job's Workload; empty while it has none. */
  String checkMessage(String job) {
    return Optional.ofNullable(workload(job).getStatus()).stream()
        .flatMap(status -> status.checkMessages().stream())
        .findFirst()
        .orElse("");
  }

  @Override
  public void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }
}
