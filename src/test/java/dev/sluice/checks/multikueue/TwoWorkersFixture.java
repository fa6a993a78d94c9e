package dev.sluice.checks.multikueue;

import static dev.sluice.checks.multikueue.MultiClusterFixture.apply;
import static dev.sluice.checks.multikueue.MultiClusterFixture.eventually;
import static dev.sluice.checks.multikueue.MultiClusterFixture.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.binaries.Program;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.APIResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A manager and its workers, of the scenario of many clusters: a control plane and an operator for
 * each. Jobs of kinds that nothing here runs are played by the test.
 */
final class TwoWorkersFixture implements AutoCloseable {

  static final String NAMESPACE = MultiClusterFixture.NAMESPACE;
  private static final String SCENARIO = "/scenarios/multi-cluster/";

  private final MultiClusterFixture clusters;
  private final List<String> workers;
  private final Path log;

  private TwoWorkersFixture(MultiClusterFixture clusters, List<String> workers, Path log) {
    this.clusters = clusters;
    this.workers = workers;
    this.log = log;
  }

  /**
   * Starts the operators: the manager's with these settings, and one in each new worker, whose
   * kubeconfig lies in a Secret here.
   */
  static TwoWorkersFixture start(
      ControlPlane controlPlane, TestCluster cluster, String settings, List<String> workers) {
    return start(controlPlane, cluster, settings, workers, "");
  }

  /** The same where the workers' operators have settings, too. */
  static TwoWorkersFixture start(
      ControlPlane controlPlane,
      TestCluster cluster,
      String settings,
      List<String> workers,
      String workerSettings) {
    MultiClusterFixture clusters = new MultiClusterFixture(cluster.client());
    Path log =
        clusters.operator("manager", cluster.kubeconfig(), controlPlane.logs(), settings).log();
    for (String name : workers) {
      apply(
          clusters.joinAndOperate(name, workerSettings).client(),
          text(SCENARIO + name + "/setup.yaml"));
    }
    return new TwoWorkersFixture(clusters, List.copyOf(workers), log);
  }

  /** Makes the manager's queues, and has it connect to all workers. */
  TwoWorkersFixture connect() {
    apply(manager(), text(SCENARIO + "manager/setup.yaml"));
    awaitConnected();
    return this;
  }

  void awaitConnected() {
    eventually(
        () ->
            assertThat(manager().resources(MultiKueueCluster.class).list().getItems())
                .filteredOn(each -> workers.contains(each.getMetadata().getName()))
                .hasSize(workers.size())
                .allSatisfy(
                    each -> {
                      assertThat(each.getStatus()).isNotNull();
                      assertThat(each.getStatus().conditions().getFirst().getStatus())
                          .isEqualTo("True");
                    }));
  }

  KubernetesClient manager() {
    return clusters.manager();
  }

  AdditionalControlPlane control(String name) {
    return clusters.control(name);
  }

  KubernetesClient worker(String name) {
    return clusters.worker(name);
  }

  /** Ends the API server of a worker; its operator ends soon, because it can't renew its lease. */
  void cutOff(String name) {
    control(name).controlPlane().crash(Program.API_SERVER);
  }

  /** Has it run again, with an operator as a Deployment would start. */
  void bringBack(String name, String settings) {
    ControlPlane plane = control(name).controlPlane();
    plane.startAgain(Program.API_SERVER);
    clusters.operator(name + "-again", plane.kubeconfig(), plane.logs(), settings);
    awaitConnected();
  }

  /** What the manager's operator has logged. */
  String managerLog() throws IOException {
    return Files.readString(log);
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
    clusters.close();
  }
}
