package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.forecast.feed.RunTimeStore;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The committed files are those that the code makes. */
class InstallFilesTest {

  @Test
  void theCommittedFilesAreThoseOfTheCode() throws IOException {
    Map<String, String> generated = new InstallFiles().all();
    if (Boolean.getBoolean("sluice.install.write")) {
      for (var file : generated.entrySet()) {
        Files.writeString(Path.of(file.getKey()), file.getValue());
      }
    }

    Map<String, String> committed = new TreeMap<>();
    for (String path : generated.keySet()) {
      committed.put(path, Files.readString(Path.of(path)));
    }
    assertThat(committed)
        .as(
            "renew: mvn test -Dtest=InstallFilesTest#theCommittedFilesAreThoseOfTheCode"
                + " -Dsluice.install.write=true")
        .isEqualTo(generated);
  }

  @Test
  void theOperatorTakesTheShippedConfiguration() throws Exception {
    Configuration configuration = ConfigurationLoader.parse(shippedConfiguration(), "", () -> "x");

    var ports =
        manager().getPorts().stream()
            .collect(Collectors.toMap(ContainerPort::getName, ContainerPort::getContainerPort));
    assertThat(ports)
        .isEqualTo(
            Map.of(
                "webhook-server", configuration.webhook().port(),
                "metrics", configuration.metrics().bindAddress().orElseThrow().port(),
                "visibility", configuration.visibilityServer().bindPort(),
                "health", configuration.health().bindAddress().orElseThrow().port()));
    assertThat(configuration.internalCertManagement().webhookServiceName())
        .isEqualTo(InstallManifests.WEBHOOK_SERVICE);
    assertThat(manager().getLivenessProbe().getHttpGet().getPath())
        .isEqualTo(configuration.health().livenessPath());
    assertThat(manager().getReadinessProbe().getHttpGet().getPath())
        .isEqualTo(configuration.health().readinessPath());
  }

  @Test
  void theRolesNameTheObjectsOfTheConfiguration() throws Exception {
    Configuration configuration = ConfigurationLoader.parse(shippedConfiguration(), "", () -> "x");

    List<String> named =
        shipped(Role.class)
            .flatMap(role -> role.getRules().stream())
            .flatMap(rule -> rule.getResourceNames().stream())
            .toList();
    assertThat(named)
        .containsExactlyInAnyOrder(
            configuration.leaderElection().resourceName(),
            configuration.internalCertManagement().webhookSecretName(),
            RunTimeStore.NAME);
    assertThat(
            shipped(ClusterRole.class)
                .filter(role -> role.getMetadata().getName().equals("kueue-manager-role"))
                .flatMap(role -> role.getRules().stream())
                .filter(rule -> rule.getApiGroups().contains("apiextensions.k8s.io"))
                .flatMap(rule -> rule.getResourceNames().stream()))
        .containsExactlyInAnyOrderElementsOf(converted());
  }

  /** Retention deletes Jobs and pods. */
  @Test
  void theOperatorMayDeleteWhatARetentionTimeEnds() throws Exception {
    List<PolicyRule> rules =
        shipped(ClusterRole.class)
            .filter(role -> role.getMetadata().getName().equals("kueue-manager-role"))
            .flatMap(role -> role.getRules().stream())
            .filter(rule -> rule.getVerbs().contains("delete"))
            .filter(rule -> !rule.getApiGroups().contains("autoscaling.x-k8s.io"))
            .toList();

    assertThat(rules.stream().flatMap(rule -> rule.getResources().stream()).distinct())
        .containsExactlyInAnyOrder(
            "appwrappers",
            "jobs",
            "jobsets",
            "jaxjobs",
            "mpijobs",
            "trainjobs",
            "paddlejobs",
            "podgroups",
            "pytorchjobs",
            "rayclusters",
            "rayjobs",
            "rayservices",
            "sparkapplications",
            "tfjobs",
            "xgboostjobs",
            "podtemplates",
            "pods",
            "workloads");
    assertThat(Files.readString(Path.of("docs/install.md")))
        .contains("deletes Jobs, pods and Workloads")
        .doesNotContain("nor deletes jobs");
  }

  @Test
  void thePodHoldsToTheRestrictedStandard() throws IOException {
    var pod = deployment().getSpec().getTemplate().getSpec();

    assertThat(pod.getSecurityContext().getRunAsNonRoot()).isTrue();
    assertThat(pod.getSecurityContext().getSeccompProfile().getType()).isEqualTo("RuntimeDefault");
    assertThat(manager().getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
    assertThat(manager().getSecurityContext().getReadOnlyRootFilesystem()).isTrue();
    assertThat(manager().getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
  }

  @Test
  void theImageRunsAsTheUserOfThePodAndIsMadeOfWhatIsThere() throws IOException {
    String recipe = Files.readString(Path.of("Containerfile"));
    long user = deployment().getSpec().getTemplate().getSpec().getSecurityContext().getRunAsUser();

    assertThat(recipe).contains("\nUSER " + user + ":" + user + "\n");
    assertThat(deployment().getSpec().getTemplate().getSpec().getSecurityContext().getFsGroup())
        .as("the group that Secrets are mounted for")
        .isEqualTo(user);
    assertThat(
            recipe
                .lines()
                .filter(line -> line.startsWith("COPY ") && !line.contains("--from"))
                .map(line -> line.split(" ")[1]))
        .isNotEmpty()
        .allSatisfy(source -> assertThat(Path.of(source)).exists());
    assertThat(recipe.lines().filter(line -> line.startsWith("FROM ")))
        .allSatisfy(line -> assertThat(line).containsPattern(":[0-9]+\\.[0-9]+\\.[0-9]+"));
  }

  @Test
  void linksOfTheChartLeadToFiles() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("helm"))) {
      assertThat(files.filter(Files::isSymbolicLink)).hasSize(2).allMatch(Files::exists);
    }
  }

  @Test
  void everyKindHasAnEditorAndAViewer() throws IOException {
    List<String> roles =
        shipped(ClusterRole.class).map(role -> role.getMetadata().getName()).toList();

    assertThat(roles).doesNotHaveDuplicates();
    for (String kind :
        List.of(
            "admissioncheck",
            "clusterqueue",
            "cohort",
            "localqueue",
            "multikueuecluster",
            "multikueueconfig",
            "provisioningrequestconfig",
            "resourceflavor",
            "topology",
            "workload",
            "workloadpriorityclass",
            "job",
            "jobset",
            "rayjob",
            "mpijob",
            "leaderworkerset")) {
      assertThat(roles)
          .contains("kueue-" + kind + "-editor-role", "kueue-" + kind + "-viewer-role");
    }
  }

  @Test
  void everyKindIsInWhatIsToBeBackedUp() throws IOException {
    String backup = section("docs/operating.md", "What to back up");
    List<String> kept =
        Pattern.compile("kubectl get ([a-z,]+) ")
            .matcher(backup)
            .results()
            .flatMap(command -> Stream.of(command.group(1).split(",", -1)))
            .toList();

    List<String> kinds = new ArrayList<>();
    try (Stream<Path> files = Files.list(Path.of("crds"))) {
      for (Path file : files.toList()) {
        String name =
            InstallFiles.objects(Files.readString(file)).getFirst().getMetadata().getName();
        kinds.add(name.substring(0, name.indexOf('.')));
      }
    }
    assertThat(kept).containsExactlyInAnyOrderElementsOf(kinds);
  }

  @Test
  void everyRightOfTheOperatorIsExplained() throws IOException {
    String explained = section("docs/security.md", "What the operator may do, and why");

    List<String> resources =
        shipped(ClusterRole.class)
            .filter(role -> role.getMetadata().getName().equals("kueue-manager-role"))
            .flatMap(role -> role.getRules().stream())
            .flatMap(rule -> rule.getResources().stream())
            .map(resource -> resource.replaceFirst("/.*", ""))
            .distinct()
            .toList();
    assertThat(resources)
        .hasSizeGreaterThan(30)
        .allSatisfy(resource -> assertThat(explained).containsPattern("`" + resource + "[`/]"));
    assertThat(explained).doesNotContain("not create jobs or pods");
  }

  /** The text below a heading of the second level. */
  private static String section(String page, String heading) throws IOException {
    String text = Files.readString(Path.of(page));
    int begin = text.indexOf("\n## " + heading + "\n");
    assertThat(begin).as(heading).isPositive();
    int end = text.indexOf("\n## ", begin + 1);
    return text.substring(begin, end < 0 ? text.length() : end);
  }

  /** The definitions into which the operator writes whom to trust. */
  private static List<String> converted() throws IOException {
    List<String> names = new ArrayList<>();
    try (Stream<Path> files = Files.list(Path.of("crds"))) {
      for (Path file : files.toList()) {
        String text = Files.readString(file);
        if (text.contains("strategy: Webhook")) {
          names.add(InstallFiles.objects(text).getFirst().getMetadata().getName());
        }
      }
    }
    return names;
  }

  private static String shippedConfiguration() throws IOException {
    return shipped(ConfigMap.class)
        .map(map -> map.getData().getOrDefault("controller_manager_config.yaml", ""))
        .findFirst()
        .orElseThrow();
  }

  private static Container manager() throws IOException {
    return deployment().getSpec().getTemplate().getSpec().getContainers().getFirst();
  }

  private static Deployment deployment() throws IOException {
    return shipped(Deployment.class).findFirst().orElseThrow();
  }

  private static <T extends HasMetadata> Stream<T> shipped(Class<T> kind) throws IOException {
    return InstallFiles.objects(Files.readString(Path.of(InstallFiles.PLAIN))).stream()
        .filter(kind::isInstance)
        .map(kind::cast);
  }
}
