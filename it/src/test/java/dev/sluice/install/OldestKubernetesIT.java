package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.Helm;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The oldest version of Kubernetes that is supported (docs/install.md#versions-of-kubernetes): the
 * chart is installed there, the operator works with the rights that it gives, and the oldest
 * manifests of the API do what they say.
 */
@ControlPlaneTest(
    exclusive = true,
    kubernetes = "1.29",
    apiServerArguments = "--enable-aggregator-routing=true")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class OldestKubernetesIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final Path STORY =
      Path.of("lab/src/main/resources/scenarios/guaranteed-and-elastic");

  private Optional<ShippedOperator> operator = Optional.empty();

  @BeforeAll
  void install(@TempDir Path directory, TestCluster cluster) throws Exception {
    assertThat(cluster.client().getKubernetesVersion().getGitVersion()).startsWith("v1.29.");
    Helm helm = Helm.find(cluster.kubeconfig(), directory);
    ShippedOperator shipped = new ShippedOperator(cluster, directory);
    operator = Optional.of(shipped);
    List<String> command =
        new ArrayList<>(
            List.of("install", "sluice", "helm/sluice", "-n", InstallManifests.NAMESPACE));
    command.add("--create-namespace");
    command.addAll(shipped.values());
    assertThat(helm.succeed(command.toArray(String[]::new)))
        .contains("serves no ValidatingAdmissionPolicies");
    shipped.run();
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(shipped.isAlive()).as(log()).isTrue();
              assertThat(log()).contains("operator leading=true");
            });
  }

  @AfterAll
  void end() {
    operator.ifPresent(ShippedOperator::close);
  }

  /** The manifests are applied as they are: v1alpha2, and the queue's name in an annotation. */
  @Test
  void theOldestManifestsDoWhatTheySay(TestCluster cluster) throws Exception {
    KubernetesClient client = cluster.client();
    for (String model : List.of("a100", "v100")) {
      cluster.createNodes(
          NodeGroup.plentiful(model, 1)
              .withLabel("gpu-model", model)
              .withCapacity("nvidia.com/gpu", "200"));
    }
    List<HasMetadata> queues = applied(cluster, "01-setup.yaml");
    assertThat(queues).hasSize(5);

    Job fits = (Job) applied(cluster, "02-job.yaml").getFirst();

    assertThat(fits.getSpec().getSuspend()).as("by the webhook").isTrue();
    awaitComplete(client, fits, "a100");

    String thirteen =
        Files.readString(STORY.resolve("02-job.yaml"))
            .replaceFirst("spec:\n", "spec:\n  parallelism: 13\n  completions: 13\n");
    Job falls = (Job) cluster.applyText(thirteen).getFirst();
    awaitComplete(client, falls, "v100");
    assertThat(
            client
                .genericKubernetesResources("kueue.x-k8s.io/v1alpha2", "ClusterQueue")
                .withName("gpu-research")
                .require()
                .get("spec", "resources")
                .toString())
        .as("as it was written")
        .contains("min=100", "max=200");

    // while somebody converts them
    List.of(fits, falls).forEach(job -> client.resource(job).delete());
    queues.reversed().forEach(queue -> client.resource(queue).delete());
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(queues.subList(1, queues.size()))
                    .as(log())
                    .allSatisfy(queue -> assertThat(client.resource(queue).get()).isNull()));
  }

  private List<HasMetadata> applied(TestCluster cluster, String file) throws IOException {
    String text = Files.readString(STORY.resolve(file));
    List<HasMetadata> objects = new ArrayList<>();
    // the certificate may not have reached the API server's webhooks yet
    await()
        .atMost(LIMIT)
        .ignoreException(KubernetesClientException.class)
        .until(() -> objects.addAll(cluster.applyText(text)));
    return objects;
  }

  private void awaitComplete(KubernetesClient client, Job job, String model) {
    var live =
        client
            .batch()
            .v1()
            .jobs()
            .inNamespace(job.getMetadata().getNamespace())
            .withName(job.getMetadata().getName());
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(live.require().getStatus().getConditions())
                  .as(log())
                  .anySatisfy(it -> assertThat(it.getType()).isEqualTo("Complete"));
            });
    assertThat(
            client
                .pods()
                .inNamespace(job.getMetadata().getNamespace())
                .withLabel("job-name", job.getMetadata().getName())
                .list()
                .getItems())
        .isNotEmpty()
        .extracting(OldestKubernetesIT::node)
        .containsOnly(model + "-0");
  }

  private static String node(Pod pod) {
    return pod.getSpec().getNodeName();
  }

  /**
   * The definitions as the chart has them for this version are taken. Of the plain manifest the
   * policies are refused by name, and the rest is applied.
   */
  @Test
  void thePlainManifestIsTakenButForItsPolicies(TestCluster cluster, @TempDir Path directory)
      throws Exception {
    KubectlPlugin kubectl = new KubectlPlugin(cluster.kubeconfig());
    Path definitions =
        Files.writeString(
            directory.resolve("definitions.yaml"),
            Helm.find(cluster.kubeconfig(), directory)
                .succeed(
                    "template",
                    "sluice",
                    "helm/sluice",
                    "-n",
                    InstallManifests.NAMESPACE,
                    "--kube-version=1.29.0",
                    "--show-only=templates/crds.yaml"));
    String[] apply = {"apply", "--server-side", "--dry-run=server", "--force-conflicts", "-f"};

    assertThat(kubectl.kubectl(with(apply, definitions.toString())))
        .endsWith("exit 0")
        .doesNotContain("Warning");
    // Helm has made the Deployment, of another release and with other ports
    Path manifest =
        Files.writeString(
            directory.resolve("plain.yaml"),
            Stream.of(Files.readString(Path.of(InstallFiles.PLAIN)).split("(?m)^---\n", -1))
                .filter(document -> !document.contains("kind: Deployment\n"))
                .collect(Collectors.joining("---\n")));
    String plain = kubectl.kubectl(with(apply, manifest.toString()));

    assertThat(plain.lines().filter(line -> line.contains("no matches for kind")))
        .hasSize(6)
        .allSatisfy(
            line ->
                assertThat(line)
                    .containsPattern(
                        "no matches for kind \"ValidatingAdmissionPolicy(Binding)?\" in version"
                            + " \"admissionregistration.k8s.io/v1\""));
    assertThat(
            plain
                .lines()
                .filter(line -> !line.contains("serverside-applied"))
                .filter(line -> !line.contains("no matches for kind"))
                .filter(line -> !line.startsWith("ensure CRDs are installed first")))
        .containsExactly("exit 1");
  }

  private static String[] with(String[] arguments, String last) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add(last);
    return all.toArray(String[]::new);
  }

  /** Nothing that the operator reads or writes is missing, but what it can do without. */
  @Test
  void theOperatorMissesNothing() {
    assertThat(log()).doesNotContain(" ERROR ").doesNotContain("\tat ");
  }

  private String log() {
    try {
      return Files.readString(operator.orElseThrow().log());
    } catch (IOException e) {
      return e.toString();
    }
  }
}
