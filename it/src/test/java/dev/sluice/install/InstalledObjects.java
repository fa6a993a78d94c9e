package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.api.ProductLabel;
import dev.sluice.webhooks.registration.WebhookConfigurations;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What charts of the API leave in the namespace of the operator, and the commands of
 * docs/switching.md.
 */
record InstalledObjects(KubernetesClient client) {

  /** The last parts of the names of the Services. */
  static final List<String> SERVICES =
      List.of("webhook-service", "visibility-server", "controller-manager-metrics-service");

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String NAMESPACE = InstallManifests.NAMESPACE;
  private static final String CERTIFICATES = "cert-manager.io/v1";
  private static final String APISERVICES = "apiregistration.k8s.io/v1";

  /** The Services whose names begin so select the pods of the Deployment whose name does. */
  void servicesLeadTo(String prefix) {
    Deployment deployment =
        client
            .apps()
            .deployments()
            .inNamespace(NAMESPACE)
            .withName(prefix + "-controller-manager")
            .require();
    Map<String, String> pods = deployment.getSpec().getTemplate().getMetadata().getLabels();
    for (String service : SERVICES) {
      assertThat(pods)
          .as("pods that Service " + service + " selects")
          .containsAllEntriesOf(
              client
                  .services()
                  .inNamespace(NAMESPACE)
                  .withName(prefix + "-" + service)
                  .require()
                  .getSpec()
                  .getSelector());
    }
  }

  /** Kubernetes' own controller finds a ready pod behind the Service. */
  void awaitEndpoints(String service) {
    await("endpoints of " + service)
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(endpoints(service))
                    .as("pods: " + client.pods().inNamespace(NAMESPACE).list().getItems())
                    .anySatisfy(pod -> assertThat(pod).contains("controller-manager-")));
  }

  private Set<String> endpoints(String service) {
    return client
        .discovery()
        .v1()
        .endpointSlices()
        .inNamespace(NAMESPACE)
        .withLabel("kubernetes.io/service-name", service)
        .list()
        .getItems()
        .stream()
        .map(EndpointSlice::getEndpoints)
        .filter(Objects::nonNull)
        .flatMap(List::stream)
        .filter(endpoint -> endpoint.getTargetRef() != null)
        .filter(endpoint -> Boolean.TRUE.equals(endpoint.getConditions().getReady()))
        .map(endpoint -> endpoint.getTargetRef().getName())
        .collect(Collectors.toSet());
  }

  /** Scales the Deployment to nothing, waits for its pods, and deletes it. */
  void stop(String deployment) {
    var found = client.apps().deployments().inNamespace(NAMESPACE).withName(deployment);
    found.scale(0);
    await()
        .atMost(LIMIT)
        .until(
            () ->
                client
                    .pods()
                    .inNamespace(NAMESPACE)
                    .withLabel("control-plane", "controller-manager")
                    .list()
                    .getItems()
                    .isEmpty());
    found.delete();
    await().atMost(LIMIT).until(() -> found.get() == null);
  }

  /** Deletes the Secrets in which Helm keeps a release; returns what they were. */
  List<Secret> forget(String release) {
    var kept =
        client
            .secrets()
            .inNamespace(NAMESPACE)
            .withLabels(Map.of("owner", "helm", "name", release));
    List<Secret> secrets = kept.list().getItems();
    kept.delete();
    return secrets;
  }

  /** Brings back what Helm had forgotten. */
  void remember(List<Secret> release) {
    for (Secret secret : release) {
      secret.getMetadata().setResourceVersion(null);
      secret.getMetadata().setUid(null);
      client.resource(secret).create();
    }
  }

  /** Deletes the registrations of a release that has names of its own. */
  void deleteRegistrations(String prefix) {
    var admission = client.admissionRegistration().v1();
    admission
        .mutatingWebhookConfigurations()
        .withName(prefix + "-mutating-webhook-configuration")
        .delete();
    admission
        .validatingWebhookConfigurations()
        .withName(prefix + "-validating-webhook-configuration")
        .delete();
  }

  /** What is told to be deleted before another operator of the API takes over. */
  void deleteWhatTheOtherLacks() {
    var admission = client.admissionRegistration().v1();
    for (var kind :
        List.of(
            admission.validatingAdmissionPolicyBindings(),
            admission.validatingAdmissionPolicies(),
            admission.mutatingWebhookConfigurations(),
            admission.validatingWebhookConfigurations(),
            client.genericKubernetesResources(APISERVICES, "APIService"))) {
      kind.withLabel(ProductLabel.KEY, ProductLabel.VALUE).delete();
    }
  }

  /** The names of all webhooks in both registrations of this prefix. */
  List<String> registeredNames(String prefix) {
    var admission = client.admissionRegistration().v1();
    return Stream.concat(
            admission
                .mutatingWebhookConfigurations()
                .withName(prefix + "-mutating-webhook-configuration")
                .require()
                .getWebhooks()
                .stream()
                .map(it -> it.getName()),
            admission
                .validatingWebhookConfigurations()
                .withName(prefix + "-validating-webhook-configuration")
                .require()
                .getWebhooks()
                .stream()
                .map(it -> it.getName()))
        .toList();
  }

  /** Deletes the objects of a manifest, but not the definitions of the API, and the certificate. */
  void delete(String manifest) {
    InstallFiles.objects(manifest).stream()
        .filter(object -> !object.getKind().equals("CustomResourceDefinition"))
        .forEach(object -> client.resource(object).delete());
    client.secrets().inNamespace(NAMESPACE).withName("kueue-webhook-server-cert").delete();
    client.leases().inNamespace(NAMESPACE).delete();
    awaitGone();
  }

  private void awaitGone() {
    await()
        .atMost(LIMIT)
        .until(
            () ->
                client
                    .pods()
                    .inNamespace(NAMESPACE)
                    .withLabel("control-plane", "controller-manager")
                    .list()
                    .getItems()
                    .isEmpty());
  }

  /** As cert-manager does when it has made a certificate. */
  void certificateIsIssued(String certificate, String secret) {
    client.secrets().inNamespace(NAMESPACE).withName(secret).delete();
    client
        .resource(
            new SecretBuilder()
                .withNewMetadata()
                .withName(secret)
                .withNamespace(NAMESPACE)
                .addToAnnotations("cert-manager.io/certificate-name", certificate)
                .endMetadata()
                .withType("kubernetes.io/tls")
                .withStringData(Map.of("tls.crt", "made by", "tls.key", "cert-manager"))
                .build())
        .create();
  }

  /** The DNS names that the Certificate asks for. */
  List<String> certificateNames(String certificate) {
    GenericKubernetesResource found =
        client
            .genericKubernetesResources(CERTIFICATES, "Certificate")
            .inNamespace(NAMESPACE)
            .withName(certificate)
            .require();
    List<String> names = found.get("spec", "dnsNames");
    return names == null ? List.of() : names;
  }

  /** Deletes what cert-manager wrote. */
  void deleteSecret(String secret) {
    client.secrets().inNamespace(NAMESPACE).withName(secret).delete();
  }

  /** Deletes the Certificate, but not what cert-manager wrote for it. */
  void deleteCertificate(String certificate) {
    client
        .genericKubernetesResources(CERTIFICATES, "Certificate")
        .inNamespace(NAMESPACE)
        .withName(certificate)
        .delete();
  }

  /** From which Certificates cert-manager writes the authorities of the webhooks. */
  Set<String> injectedFrom() {
    var admission = client.admissionRegistration().v1();
    return Stream.<HasMetadata>of(
            admission
                .mutatingWebhookConfigurations()
                .withName(WebhookConfigurations.MUTATING)
                .require(),
            admission
                .validatingWebhookConfigurations()
                .withName(WebhookConfigurations.VALIDATING)
                .require())
        .map(it -> it.getMetadata().getAnnotations().get("cert-manager.io/inject-ca-from"))
        .collect(Collectors.toSet());
  }

  /** The API server verifies the server of the visibility API. */
  void apiServicesAreVerified() {
    for (String version : List.of("v1beta1", "v1beta2")) {
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () -> {
                GenericKubernetesResource service =
                    client
                        .genericKubernetesResources(APISERVICES, "APIService")
                        .withName(version + ".visibility.kueue.x-k8s.io")
                        .require();
                Object insecure = service.get("spec", "insecureSkipTLSVerify");
                Object authority = service.get("spec", "caBundle");
                assertThat(insecure).isIn(null, false);
                assertThat(authority).isNotNull();
              });
    }
  }
}
