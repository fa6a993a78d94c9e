package dev.sluice.testing;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.sluice.api.ApiVersions;
import dev.sluice.install.InstallManifests;
import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.process.OperatorAccount;
import dev.sluice.lab.process.OperatorSettings;
import io.fabric8.kubernetes.api.model.APIService;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.WebhookClientConfigBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributesBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/**
 * What the chart installs in a test's cluster, for an operator that runs on this machine: with
 * {@code -Dsluice.operator.as=chart} every {@link LocalOperator} has the chart's service account
 * with the chart's roles, the chart's configuration, and the certificates that it makes in the
 * chart's Secret. It installs nothing by itself.
 *
 * <p>What a test configures are values of the chart: {@code config} of {@code values.yaml} with the
 * test's fields merged into it, as Helm merges values. So a list of the test replaces the chart's,
 * and a field that the test doesn't name is the chart's. Two things differ from an installation,
 * because the operator is no pod: the Deployment has no replicas, and registrations of webhooks and
 * conversions lead to an address of this machine instead of the Service; the APIServices, which
 * can't, are left out.
 */
final class ChartInstallation {

  private static final String PROPERTY = "sluice.operator.as";
  private static final String CHART = "helm/sluice";
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Duration INTERVAL = Duration.ofMillis(25);

  private final KubernetesClient client;
  private final KubernetesSerialization serialization = new KubernetesSerialization();

  private ChartInstallation(KubernetesClient client) {
    this.client = client;
  }

  /**
   * What an operator is started with.
   *
   * @param kubeconfig of the chart's service account
   * @param configuration the text of the chart's configuration file
   */
  record Installed(Path kubeconfig, String configuration) {}

  /** Whether operators of this run are those of the chart. */
  static boolean isWanted() {
    String as = System.getProperty(PROPERTY, "administrator");
    if (!Set.of("administrator", "chart").contains(as)) {
      throw new IllegalStateException(PROPERTY + " is administrator or chart, not " + as);
    }
    return as.equals("chart");
  }

  /** Installs the chart over what is there; the roles are in force when this returns. */
  static Installed install(Path administrator, OperatorSettings settings) {
    try (KubernetesClient client = ApiClients.patient(administrator)) {
      return new ChartInstallation(client).install(administrator, merged(settings), settings);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the chart is installed", e);
    }
  }

  /** The fields of a test's configuration file that are values of the chart. */
  private static Map<String, Object> merged(OperatorSettings settings) {
    Map<String, Object> fields =
        new KubernetesSerialization()
            .unmarshal(
                new ByteArrayInputStream(settings.yaml().getBytes(StandardCharsets.UTF_8)),
                new TypeReference<HashMap<String, Object>>() {});
    fields.remove("apiVersion");
    fields.remove("kind");
    return fields;
  }

  private Installed install(
      Path administrator, Map<String, Object> configuration, OperatorSettings settings)
      throws IOException, InterruptedException {
    List<HasMetadata> objects = render(administrator, configuration);
    String address = "https://127.0.0.1:" + settings.webhookPort();
    objects.forEach(object -> leadHere(object, address));
    apply(
        new NamespaceBuilder()
            .withNewMetadata()
            .withName(InstallManifests.NAMESPACE)
            .endMetadata()
            .build());
    List<CustomResourceDefinition> definitions = ofType(objects, CustomResourceDefinition.class);
    definitions.stream().filter(this::isToBeApplied).forEach(this::apply);
    definitions.forEach(this::awaitEstablished);
    objects.stream()
        .filter(object -> !(object instanceof CustomResourceDefinition))
        .filter(object -> !(object instanceof APIService))
        .forEach(this::apply);
    awaitRoles(objects);
    return new Installed(kubeconfig(), configuration(objects));
  }

  private List<HasMetadata> render(Path administrator, Map<String, Object> configuration)
      throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("chart");
    Path values = directory.resolve("values.json");
    try {
      Files.writeString(
          values, serialization.asJson(Map.of("replicas", 0, "config", configuration)));
      String text =
          Helm.find(administrator, directory)
              .succeed(
                  "template",
                  "sluice",
                  CHART,
                  "--namespace",
                  InstallManifests.NAMESPACE,
                  "--kube-version",
                  "1.36.0",
                  "--values",
                  values.toString());
      return client.load(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8))).items();
    } finally {
      Files.delete(values);
    }
  }

  /** The chart leaves a definition out that isn't Sluice's and is in the cluster already. */
  private boolean isToBeApplied(CustomResourceDefinition definition) {
    return definition.getSpec().getGroup().equals(ApiVersions.GROUP)
        || client.resource(definition).get() == null;
  }

  private void awaitEstablished(CustomResourceDefinition definition) {
    client
        .resource(definition)
        .waitUntilCondition(PlayedDefinitions::isEstablished, LIMIT.toSeconds(), TimeUnit.SECONDS);
  }

  private void apply(HasMetadata object) {
    client.resource(object).fieldManager("chart").forceConflicts().serverSideApply();
  }

  private static void leadHere(HasMetadata object, String address) {
    switch (object) {
      case MutatingWebhookConfiguration mutating ->
          mutating
              .getWebhooks()
              .forEach(it -> it.setClientConfig(here(it.getClientConfig(), address)));
      case ValidatingWebhookConfiguration validating ->
          validating
              .getWebhooks()
              .forEach(it -> it.setClientConfig(here(it.getClientConfig(), address)));
      case CustomResourceDefinition definition -> {
        var conversion = definition.getSpec().getConversion();
        if (conversion != null && conversion.getWebhook() != null) {
          conversion
              .getWebhook()
              .setClientConfig(
                  new WebhookClientConfigBuilder()
                      .withUrl(
                          address
                              + conversion.getWebhook().getClientConfig().getService().getPath())
                      .build());
        }
      }
      default -> {
        // nobody is led anywhere
      }
    }
  }

  private static WebhookClientConfig here(WebhookClientConfig shipped, String address) {
    WebhookClientConfig here = new WebhookClientConfig();
    here.setUrl(address + shipped.getService().getPath());
    return here;
  }

  /** The API server learns of roles and bindings by watches of its own. */
  private void awaitRoles(List<HasMetadata> objects) {
    Set<String> bound =
        ofType(objects, ClusterRoleBinding.class).stream()
            .filter(
                binding ->
                    binding.getSubjects().stream()
                        .anyMatch(it -> it.getName().equals(InstallManifests.SERVICE_ACCOUNT)))
            .map(binding -> binding.getRoleRef().getName())
            .collect(Collectors.toSet());
    ofType(objects, ClusterRole.class).stream()
        .filter(role -> bound.contains(role.getMetadata().getName()))
        .forEach(
            role ->
                Awaitility.await("rights of " + role.getMetadata().getName())
                    .atMost(LIMIT)
                    .pollInterval(INTERVAL)
                    .until(() -> mayDo(role.getRules().getLast())));
  }

  private boolean mayDo(PolicyRule rule) {
    ResourceAttributes asked =
        new ResourceAttributesBuilder()
            .withGroup(rule.getApiGroups().getFirst())
            .withResource(rule.getResources().getFirst().replaceFirst("/.*", ""))
            .withSubresource(
                rule.getResources().getFirst().contains("/")
                    ? rule.getResources().getFirst().replaceFirst(".*/", "")
                    : "")
            .withName(rule.getResourceNames().stream().findFirst().orElse(""))
            .withVerb(rule.getVerbs().getFirst())
            .build();
    return client
        .authorization()
        .v1()
        .subjectAccessReview()
        .create(
            new SubjectAccessReviewBuilder()
                .withNewSpec()
                .withUser(InstallManifests.user(InstallManifests.NAMESPACE))
                .withResourceAttributes(asked)
                .endSpec()
                .build())
        .getStatus()
        .getAllowed();
  }

  private Path kubeconfig() throws IOException {
    String token = OperatorAccount.token(client, InstallManifests.SERVICE_ACCOUNT);
    Path file = Files.createTempFile("installed-operator", ".kubeconfig");
    file.toFile().deleteOnExit();
    return Files.writeString(file, OperatorAccount.kubeconfig(client, token));
  }

  private static String configuration(List<HasMetadata> objects) {
    return ofType(objects, ConfigMap.class).stream()
        .map(each -> each.getData().get("controller_manager_config.yaml"))
        .findFirst()
        .orElseThrow();
  }

  private static <T> List<T> ofType(List<HasMetadata> objects, Class<T> type) {
    return objects.stream().filter(type::isInstance).map(type::cast).toList();
  }
}
