package dev.sluice.server.certificates;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.testing.PlayedApi;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@EnableKubernetesMockClient(crud = true)
class KubernetesAccessTest {

  private static final String NAME = "kueue-mutating-webhook-configuration";

  @SuppressWarnings("NullAway.Init")
  KubernetesClient client;

  @Test
  void everyWebhookGetsTheBundleAndASecondTimeNothingIsWritten() {
    client.resource(configuration(NAME)).create();
    var publisher =
        new KubernetesCaBundleInjector(client, "kueue-webhook-service", List.of(), () -> {});

    publisher.publish("PEM");
    MutatingWebhookConfiguration changed = read();
    publisher.publish("PEM");

    assertThat(changed.getWebhooks())
        .extracting(webhook -> webhook.getClientConfig().getCaBundle())
        .containsOnly(Base64.getEncoder().encodeToString("PEM".getBytes(US_ASCII)));
    assertThat(read().getMetadata().getResourceVersion())
        .isEqualTo(changed.getMetadata().getResourceVersion());
  }

  /** As the contract names them by the Service, and as they are installed, whatever its name. */
  @Test
  void registrationsOfAServiceWithAnotherName() throws IOException {
    String derived = "foo-mutating-webhook-configuration";
    client.resource(configuration(NAME)).create();
    client.resource(configuration(derived)).create();

    new KubernetesCaBundleInjector(client, "foo-webhook-service", List.of(), () -> {})
        .publish("PEM");

    assertThat(
            client.admissionRegistration().v1().mutatingWebhookConfigurations().list().getItems())
        .flatExtracting(MutatingWebhookConfiguration::getWebhooks)
        .extracting(webhook -> webhook.getClientConfig().getCaBundle())
        .hasSize(4)
        .containsOnly(Base64.getEncoder().encodeToString("PEM".getBytes(US_ASCII)));

    try (PlayedApi api = new PlayedApi();
        KubernetesClient restricted = api.client()) {
      api.play(asked -> new PlayedApi.Answer(asked.path().contains("/foo-") ? 403 : 404, "{}"));
      new KubernetesCaBundleInjector(restricted, "foo-webhook-service", List.of(), () -> {})
          .publish("PEM");

      assertThat(api.asked("GET", "/" + derived)).as("the shipped role forbids it").hasSize(1);

      api.play(asked -> new PlayedApi.Answer(403, "{}"));
      var forbidden =
          new KubernetesCaBundleInjector(restricted, "foo-webhook-service", List.of(), () -> {});
      assertThatThrownBy(() -> forbidden.publish("PEM"))
          .isInstanceOf(KubernetesClientException.class);
    }
  }

  @Test
  void objectsThatAreNotThereArePassedOver() {
    new KubernetesCaBundleInjector(
            client, "kueue-webhook-service", List.of("workloads.kueue.x-k8s.io"), () -> {})
        .publish("PEM");

    assertThat(
            client.admissionRegistration().v1().mutatingWebhookConfigurations().list().getItems())
        .isEmpty();
  }

  @Test
  void theSecretIsCreatedReplacedAndGuarded() {
    var access = new KubernetesSecretAccess(client, "ns", "cert", () -> {});
    assertThat(access.read()).isEmpty();

    assertThat(access.write(Map.of("tls.crt", new byte[] {1}), Optional.empty())).isTrue();
    String first = access.read().orElseThrow().version();
    assertThat(access.write(Map.of("tls.crt", new byte[] {2}), Optional.of(first))).isTrue();

    assertThat(access.read().orElseThrow().data().get("tls.crt")).containsExactly(2);
    assertThat(access.write(Map.of(), Optional.empty())).as("exists already").isFalse();
  }

  /** That of the earlier operator of the API has all four, empty at first. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "                                       |                | ca.key tls.crt |",
        "                                       |                |                |",
        "app.kubernetes.io/part-of: sluice      |                | tls.crt        |",
        "                                       |                | tls.crt        | somebody who"
            + " keeps",
        "app.kubernetes.io/part-of: another     |                | ca.crt tls.crt | somebody who"
            + " keeps",
        "                                       | kueue-serving  | ca.key tls.crt | cert-manager"
            + " for Certificate kueue-serving"
      })
  void aSecretThatSomebodyElseWritesIsLeftAlone(
      @Nullable String label,
      @Nullable String certificate,
      @Nullable String keys,
      @Nullable String writer) {
    Secret secret = new SecretBuilder().withNewMetadata().withName("cert").endMetadata().build();
    if (label != null) {
      String[] parts = label.split(": ", 2);
      secret.getMetadata().setLabels(Map.of(parts[0], parts[1]));
    }
    if (certificate != null) {
      secret.getMetadata().setAnnotations(Map.of("cert-manager.io/certificate-name", certificate));
    }
    secret.setData(
        keys == null
            ? Map.of()
            : Stream.of(keys.split(" ")).collect(Collectors.toMap(key -> key, key -> "AAAA")));
    client.resource(secret).inNamespace("ns").create();
    List<String> writes = new ArrayList<>();
    var access = new KubernetesSecretAccess(client, "ns", "cert", () -> writes.add("one"));

    if (writer == null) {
      assertThat(access.read()).isPresent();
    } else {
      assertThatThrownBy(access::read)
          .hasMessageStartingWith("Secret ns/cert is written by " + writer)
          .hasMessageContaining("internalCertManagement.enable");
    }
    assertThat(writes).isEmpty();
  }

  private MutatingWebhookConfiguration read() {
    return client.admissionRegistration().v1().mutatingWebhookConfigurations().withName(NAME).get();
  }

  private static MutatingWebhookConfiguration configuration(String name) {
    return new MutatingWebhookConfigurationBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .addNewWebhook()
        .withName("a.kb.io")
        .withNewClientConfig()
        .withUrl("https://127.0.0.1:9443/a")
        .endClientConfig()
        .endWebhook()
        .addNewWebhook()
        .withName("b.kb.io")
        .withNewClientConfig()
        .withNewService()
        .withName("kueue-webhook-service")
        .withNamespace("kueue-system")
        .endService()
        .endClientConfig()
        .endWebhook()
        .build();
  }
}
