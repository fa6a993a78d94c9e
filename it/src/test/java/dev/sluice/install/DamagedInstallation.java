package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.ApiVersions;
import dev.sluice.testing.TestCluster;
import dev.sluice.webhooks.registration.WebhookConfigurations;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;

/** Deletes and changes what the running operator needs, as an administrator may. */
record DamagedInstallation(TestCluster cluster, ShippedOperator operator) {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SECRET = "kueue-webhook-server-cert";

  /** Each is put back, and trusted again; a Service that leads elsewhere is told. */
  void heals() {
    KubernetesClient client = cluster.client();
    var admission = client.admissionRegistration().v1();
    Resource<MutatingWebhookConfiguration> mutating =
        admission.mutatingWebhookConfigurations().withName(WebhookConfigurations.MUTATING);
    Resource<ValidatingWebhookConfiguration> validating =
        admission.validatingWebhookConfigurations().withName(WebhookConfigurations.VALIDATING);
    int entries = mutating.require().getWebhooks().size();
    String uid = uid(mutating);

    mutating.delete();
    await("mutating webhooks")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(mutating.get()).as(log()).isNotNull();
              assertThat(uid(mutating)).isNotEqualTo(uid);
              assertThat(mutating.get().getWebhooks())
                  .hasSize(entries)
                  .allSatisfy(it -> assertThat(it.getClientConfig().getCaBundle()).isNotEmpty());
            });
    validating.delete();
    await("validating webhooks")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(validating.get()).as(log()).isNotNull());
    await("an edit that meets no other")
        .atMost(LIMIT)
        .ignoreException(KubernetesClientException.class)
        .until(
            () ->
                validating
                    .edit(
                        found -> {
                          found.getWebhooks().removeIf(it -> it.getName().equals("vjob.kb.io"));
                          return found;
                        })
                    .getWebhooks()
                    .stream()
                    .noneMatch(it -> it.getName().equals("vjob.kb.io")));
    await("an entry that was taken out")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(validating.require().getWebhooks())
                    .as(log())
                    .anySatisfy(it -> assertThat(it.getName()).isEqualTo("vjob.kb.io")));
    var secret = client.secrets().inNamespace(InstallManifests.NAMESPACE).withName(SECRET);
    String before = secret.require().getMetadata().getUid();
    secret.delete();
    await("the certificate, and the trust in it")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(secret.get()).as(log()).isNotNull();
              assertThat(secret.get().getMetadata().getUid()).isNotEqualTo(before);
              String authority = secret.get().getData().get("ca.crt");
              assertThat(validating.require().getWebhooks())
                  .allSatisfy(
                      it -> assertThat(it.getClientConfig().getCaBundle()).isEqualTo(authority));
            });
    await("the API server trusts the new certificate")
        .atMost(LIMIT)
        .ignoreException(KubernetesClientException.class)
        .until(
            () ->
                client
                        .genericKubernetesResources(
                            ApiVersions.GROUP + "/v1beta2", "ResourceFlavor")
                        .resource(
                            new GenericKubernetesResourceBuilder()
                                .withApiVersion(ApiVersions.GROUP + "/v1beta2")
                                .withKind("ResourceFlavor")
                                .withNewMetadata()
                                .withName("asked")
                                .endMetadata()
                                .build())
                        .dryRun()
                        .create()
                    != null);
    trustedAgain(
        client
            .genericKubernetesResources("apiextensions.k8s.io/v1", "CustomResourceDefinition")
            .withName("cohorts." + ApiVersions.GROUP),
        "/spec/conversion/webhook/clientConfig/caBundle");
    trustedAgain(
        client
            .genericKubernetesResources("apiregistration.k8s.io/v1", "APIService")
            .withName("v1beta2.visibility.kueue.x-k8s.io"),
        "/spec/caBundle");
    endpointsAreTold(client);
  }

  /** As after {@code kubectl replace} by a file that knows no authority. */
  private static void trustedAgain(Resource<GenericKubernetesResource> object, String path) {
    JsonPointer pointer = JsonPointer.compile(path);
    JsonNode trusted = tree(object).at(pointer);
    assertThat(trusted.asText()).isNotEmpty();
    object.patch(
        PatchContext.of(PatchType.JSON), "[{\"op\": \"remove\", \"path\": \"" + path + "\"}]");
    await(path + " is there again")
        .atMost(LIMIT)
        .until(() -> tree(object).at(pointer).equals(trusted));
  }

  private static JsonNode tree(Resource<GenericKubernetesResource> object) {
    return JSON.valueToTree(object.require());
  }

  /** The slice that leads to this process is taken away and put back. */
  private void endpointsAreTold(KubernetesClient client) {
    var slice =
        client
            .discovery()
            .v1()
            .endpointSlices()
            .inNamespace(InstallManifests.NAMESPACE)
            .withName(InstallManifests.WEBHOOK_SERVICE + "-on-this-machine");
    var whole = slice.require();
    slice.delete();
    await("a Service that leads nowhere is told")
        .atMost(LIMIT)
        .untilAsserted(
            () -> assertThat(log()).contains("installation object=endpoints fault=\"Service "));
    whole.getMetadata().setResourceVersion(null);
    client.resource(whole).create();
    await("and that it leads here again")
        .atMost(LIMIT)
        .untilAsserted(
            () -> assertThat(log()).contains("installation object=endpoints fault=none"));
  }

  private static String uid(Resource<? extends HasMetadata> resource) {
    return resource.require().getMetadata().getUid();
  }

  private String log() {
    try {
      return Files.readString(operator.log());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
