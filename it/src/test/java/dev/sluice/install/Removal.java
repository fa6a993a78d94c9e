package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Takes an installation out of a cluster in the order of docs/operating.md#removing-it. */
record Removal(TestCluster cluster) {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String API = "kueue.x-k8s.io/v1beta2";

  /** Jobs and queues, while the operator runs; returns when nothing of them is left. */
  void ofQueues() {
    KubernetesClient client = cluster.client();
    client.batch().v1().jobs().inAnyNamespace().withLabel("kueue.x-k8s.io/queue-name").delete();
    delete("Workload", "LocalQueue", "ClusterQueue", "Cohort", "AdmissionCheck");
    delete("ResourceFlavor", "Topology", "WorkloadPriorityClass");
    for (String kind : List.of("Workload", "LocalQueue", "ClusterQueue", "ResourceFlavor")) {
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(
                          client
                              .genericKubernetesResources(API, kind)
                              .inAnyNamespace()
                              .list()
                              .getItems())
                      .as("each %s is gone, and its finalizer", kind)
                      .isEmpty());
    }
  }

  private void delete(String... kinds) {
    for (String kind : kinds) {
      cluster.client().genericKubernetesResources(API, kind).inAnyNamespace().delete();
    }
  }

  /** Manifest and definitions, when the operator has ended. */
  void ofInstallation() throws IOException {
    KubernetesClient client = cluster.client();
    for (String file : List.of(InstallFiles.PLAIN, InstallFiles.QUEUED_JOBS)) {
      InstallFiles.objects(Files.readString(Path.of(file)))
          .reversed()
          .forEach(object -> client.resource(object).delete());
    }
    try (Stream<Path> files = Files.list(Path.of("crds"))) {
      for (Path file : files.sorted().toList()) {
        InstallFiles.objects(Files.readString(file))
            .forEach(definition -> client.resource(definition).delete());
      }
    }
  }

  /** Looks for whatever could be left. */
  void leftNothing() {
    KubernetesClient client = cluster.client();
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        client.apiextensions().v1().customResourceDefinitions().list().getItems())
                    .extracting(definition -> definition.getSpec().getGroup())
                    .doesNotContain("kueue.x-k8s.io"));
    await()
        .atMost(LIMIT)
        .until(() -> client.namespaces().withName(InstallManifests.NAMESPACE).get() == null);
    assertThat(ofThisOperator(client.rbac().clusterRoles().list().getItems())).isEmpty();
    assertThat(ofThisOperator(client.rbac().clusterRoleBindings().list().getItems())).isEmpty();
    assertThat(
            ofThisOperator(
                client.rbac().roleBindings().inNamespace("kube-system").list().getItems()))
        .isEmpty();
    var admission = client.admissionRegistration().v1();
    assertThat(ofThisOperator(admission.mutatingWebhookConfigurations().list().getItems()))
        .isEmpty();
    assertThat(ofThisOperator(admission.validatingWebhookConfigurations().list().getItems()))
        .isEmpty();
    assertThat(ofThisOperator(admission.validatingAdmissionPolicies().list().getItems())).isEmpty();
    assertThat(ofThisOperator(admission.validatingAdmissionPolicyBindings().list().getItems()))
        .isEmpty();
    assertThat(
            ofThisOperator(
                client
                    .genericKubernetesResources("apiregistration.k8s.io/v1", "APIService")
                    .list()
                    .getItems()))
        .isEmpty();
    for (HasMetadata object :
        Stream.concat(
                client.pods().inAnyNamespace().list().getItems().stream()
                    .map(HasMetadata.class::cast),
                client.batch().v1().jobs().inAnyNamespace().list().getItems().stream())
            .toList()) {
      assertThat(object.getFinalizers()).noneMatch(finalizer -> finalizer.contains("kueue"));
    }
  }

  private static List<String> ofThisOperator(List<? extends HasMetadata> objects) {
    return objects.stream()
        .map(object -> object.getMetadata().getName())
        .filter(name -> name.contains("kueue") || name.contains("sluice"))
        .toList();
  }
}
