package dev.sluice.server.certificates;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.ConcurrentRequests;
import dev.sluice.server.certificates.InternalCertificates.CaBundleInjector;
import dev.sluice.visibility.api.VisibilityApi;
import dev.sluice.webhooks.registration.WebhookConfigurations;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the certificate authorities into the webhook configurations, the CustomResourceDefinitions
 * that use a conversion webhook, and the APIServices of the visibility API. Skips missing objects,
 * which may be created later.
 */
public final class KubernetesCaBundleInjector implements CaBundleInjector {

  /** The CustomResourceDefinitions whose versions differ in their schema. */
  public static final List<String> CONVERTED =
      Stream.of(
              "localqueues",
              "clusterqueues",
              "workloads",
              "cohorts",
              "multikueueclusters",
              "resourceflavors")
          .map(plural -> plural + "." + ApiVersions.GROUP)
          .toList();

  private static final String DEFAULT_SERVICE = "kueue-webhook-service";
  private static final String SUFFIX = "-webhook-configuration";
  private static final Logger log = LoggerFactory.getLogger(KubernetesCaBundleInjector.class);
  private static final PatchContext JSON_PATCH = PatchContext.of(PatchType.JSON);

  private final KubernetesClient client;
  private final String webhookServiceName;
  private final List<String> definitions;
  private final Runnable allowed;

  /**
   * Creates an injector.
   *
   * @param allowed called before each write; throws when none may be sent now
   * @param webhookServiceName configured name of the Service; webhook configurations may have names
   *     that derive from it, besides those that Sluice gives them
   * @param definitions full names of the CustomResourceDefinitions
   */
  public KubernetesCaBundleInjector(
      KubernetesClient client,
      String webhookServiceName,
      List<String> definitions,
      Runnable allowed) {
    this.client = client;
    this.allowed = allowed;
    this.webhookServiceName = webhookServiceName;
    this.definitions = List.copyOf(definitions);
  }

  @Override
  public void publish(String caBundle) {
    String encoded =
        Base64.getEncoder().encodeToString(caBundle.getBytes(StandardCharsets.US_ASCII));
    List<Runnable> objects = new ArrayList<>();
    String mutating = "MutatingWebhookConfiguration";
    String validating = "ValidatingWebhookConfiguration";
    objects.add(() -> configuration(mutating, WebhookConfigurations.MUTATING, encoded));
    objects.add(() -> configuration(validating, WebhookConfigurations.VALIDATING, encoded));
    if (!webhookServiceName.equals(DEFAULT_SERVICE)) {
      String prefix = webhookServiceName.replaceFirst("-webhook-service$", "");
      objects.add(() -> renamed(mutating, prefix + "-mutating" + SUFFIX, encoded));
      objects.add(() -> renamed(validating, prefix + "-validating" + SUFFIX, encoded));
    }
    for (String definition : definitions) {
      objects.add(() -> definition(definition, encoded));
    }
    for (String version : VisibilityApi.VERSIONS) {
      objects.add(() -> service(version + "." + VisibilityApi.GROUP, encoded));
    }
    ConcurrentRequests.run(objects);
  }

  /** An APIService whose server is not to be verified is left as it is. */
  private void service(String name, String caBundle) {
    var resource = resource("apiregistration.k8s.io", "APIService", "apiservices", name);
    GenericKubernetesResource found = resource.get();
    if (found == null) {
      return;
    }
    JsonNode spec = JsonMappers.JSON.valueToTree(found.getAdditionalProperties()).path("spec");
    if (!spec.path("insecureSkipTLSVerify").asBoolean()) {
      ArrayNode patch = guarded(found);
      add(patch, spec, "/spec", caBundle);
      apply(resource, patch, "APIService", found);
    }
  }

  /** One that has its name from the Service's, of which the shipped role knows nothing. */
  private void renamed(String kind, String name, String caBundle) {
    try {
      configuration(kind, name, caBundle);
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_FORBIDDEN) {
        throw e;
      }
      log.debug("trust kind={} name={} reason=\"{}\"", kind, name, e.getMessage());
    }
  }

  private void configuration(String kind, String name, String caBundle) {
    var resource =
        resource("admissionregistration.k8s.io", kind, kind.toLowerCase(Locale.ROOT) + "s", name);
    GenericKubernetesResource found = resource.get();
    if (found == null) {
      return;
    }
    JsonNode webhooks =
        JsonMappers.JSON.valueToTree(found.getAdditionalProperties()).path("webhooks");
    ArrayNode patch = guarded(found);
    for (int i = 0; i < webhooks.size(); i++) {
      add(
          patch,
          webhooks.get(i).path("clientConfig"),
          "/webhooks/" + i + "/clientConfig",
          caBundle);
    }
    apply(resource, patch, kind, found);
  }

  private void definition(String name, String caBundle) {
    var resource =
        resource(
            "apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", name);
    GenericKubernetesResource found = resource.get();
    if (found == null) {
      return;
    }
    JsonNode conversion =
        JsonMappers.JSON
            .valueToTree(found.getAdditionalProperties())
            .path("spec")
            .path("conversion");
    if (!conversion.path("strategy").asText().equals("Webhook")) {
      return;
    }
    ArrayNode patch = guarded(found);
    add(
        patch,
        conversion.path("webhook").path("clientConfig"),
        "/spec/conversion/webhook/clientConfig",
        caBundle);
    apply(resource, patch, "CustomResourceDefinition", found);
  }

  private Resource<GenericKubernetesResource> resource(
      String group, String kind, String plural, String name) {
    ResourceDefinitionContext context =
        new ResourceDefinitionContext.Builder()
            .withGroup(group)
            .withVersion("v1")
            .withKind(kind)
            .withPlural(plural)
            .withNamespaced(false)
            .build();
    return client.genericKubernetesResources(context).withName(name);
  }

  private static ArrayNode guarded(GenericKubernetesResource found) {
    ArrayNode patch = JsonMappers.JSON.createArrayNode();
    patch
        .addObject()
        .put("op", "test")
        .put("path", "/metadata/resourceVersion")
        .put("value", found.getMetadata().getResourceVersion());
    return patch;
  }

  private static void add(ArrayNode patch, JsonNode clientConfig, String path, String caBundle) {
    if (clientConfig.isObject() && !clientConfig.path("caBundle").asText().equals(caBundle)) {
      patch.addObject().put("op", "add").put("path", path + "/caBundle").put("value", caBundle);
    }
  }

  private void apply(
      Resource<GenericKubernetesResource> resource,
      ArrayNode patch,
      String kind,
      GenericKubernetesResource found) {
    if (patch.size() > 1) {
      allowed.run();
      resource.patch(JSON_PATCH, patch.toString());
      log.info(
          "trust kind={} name={} entries={} reason=caBundle",
          kind,
          found.getMetadata().getName(),
          patch.size() - 1);
    }
  }
}
