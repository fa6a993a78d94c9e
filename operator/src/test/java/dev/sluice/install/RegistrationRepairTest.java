package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.webhooks.registration.WebhookRegistration;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of trust that somebody else writes, such as cert-manager. */
@EnableKubernetesMockClient(crud = true)
class RegistrationRepairTest {

  private static final Duration DAY = Duration.ofDays(1);
  private static final Map<String, String> INJECTED =
      Map.of("cert-manager.io/inject-ca-from", "kueue-system/kueue-serving-cert");

  @SuppressWarnings("NullAway.Init")
  KubernetesClient client;

  private final CertificateAuthority authorities =
      new CertificateAuthority(InstantSource.system(), new SecureRandom());

  private final WebhookRegistration registration =
      WebhookRegistration.shipped(
          InstallManifests.NAMESPACE,
          InstallManifests.WEBHOOK_SERVICE,
          InstallManifests.user(InstallManifests.NAMESPACE));

  @SuppressWarnings("NullAway.Init")
  private CertificateWithKey authority;

  @SuppressWarnings("NullAway.Init")
  private CertificateWithKey serving;

  @BeforeEach
  void makeCertificates() throws GeneralSecurityException {
    authority = authorities.authority(DAY);
    serving =
        authorities.serving(authority, List.of("kueue-webhook-service.kueue-system.svc"), DAY);
  }

  private RegistrationRepair repair() {
    return new RegistrationRepair(
        client, registration, Optional.of(() -> {}), Optional.of(() -> Optional.of(serving)));
  }

  private void install(CertificateWithKey trusted) throws GeneralSecurityException {
    String bundle =
        Base64.getEncoder()
            .encodeToString(trusted.certificatePem().getBytes(StandardCharsets.US_ASCII));
    for (HasMetadata object : InstallManifests.webhooks(registration)) {
      object.getMetadata().setAnnotations(INJECTED);
      switch (object) {
        case MutatingWebhookConfiguration it ->
            it.getWebhooks().forEach(entry -> entry.getClientConfig().setCaBundle(bundle));
        case ValidatingWebhookConfiguration it ->
            it.getWebhooks().forEach(entry -> entry.getClientConfig().setCaBundle(bundle));
        default -> throw new AssertionError(object);
      }
      client.resource(object).create();
    }
  }

  private MutatingWebhookConfiguration mutating() {
    return client
        .admissionRegistration()
        .v1()
        .mutatingWebhookConfigurations()
        .withName("kueue-mutating-webhook-configuration")
        .require();
  }

  private void edit(UnaryOperator<MutatingWebhookConfiguration> change) {
    client.resource(change.apply(mutating())).update();
  }

  @Test
  void whatWasDeletedComesBackWithTrustAndWithWhatAsksForIt() throws Exception {
    install(authority);
    RegistrationRepair repair = repair();
    assertThat(repair.look().isFault()).isFalse();
    String trusted = mutating().getWebhooks().getFirst().getClientConfig().getCaBundle();

    client.resource(mutating()).delete();
    assertThat(repair.look().repaired()).isTrue();

    assertThat(mutating().getMetadata().getAnnotations()).containsAllEntriesOf(INJECTED);
    assertThat(mutating().getWebhooks())
        .isNotEmpty()
        .allSatisfy(it -> assertThat(it.getClientConfig().getCaBundle()).isEqualTo(trusted));
    assertThat(repair.look().isFault()).isFalse();
  }

  /** An operator that has just started has seen the other registration only. */
  @Test
  void whatWasNeverSeenIsTakenFromTheOtherRegistration() throws Exception {
    install(authority);
    client.resource(mutating()).delete();

    RegistrationRepair repair = repair();
    assertThat(repair.look().repaired()).isTrue();

    assertThat(mutating().getMetadata().getAnnotations()).containsAllEntriesOf(INJECTED);
    assertThat(repair.look().isFault()).isFalse();
  }

  @Test
  void anEntryWithoutAuthorityIsAFaultAndIsLeftToWhoeverWritesIt() throws Exception {
    install(authority);
    edit(
        found -> {
          found.getWebhooks().getFirst().getClientConfig().setCaBundle(null);
          return found;
        });

    RegistrationRepair.Finding finding = repair().look();

    assertThat(finding.isFault()).isTrue();
    assertThat(finding.absent()).isFalse();
    assertThat(finding.text())
        .contains("1 of ", "MutatingWebhookConfiguration", "have no caBundle")
        .doesNotContain("Validating");
  }

  @Test
  void anotherAuthorityIsAFaultUntilTheCertificateIsOfIt() throws Exception {
    CertificateWithKey other = authorities.authority(DAY);
    install(other);
    RegistrationRepair repair = repair();
    assertThat(repair.look().text()).contains("is not of the authority that signed");

    serving = authorities.serving(other, List.of("kueue-webhook-service.kueue-system.svc"), DAY);

    assertThat(repair.look().isFault()).isFalse();
  }

  /** Where the operator publishes the authority, that follows the registrations. */
  @Test
  void trustOfTheOperatorIsNotJudged() {
    InstallManifests.webhooks(registration).forEach(it -> client.resource(it).create());

    assertThat(new RegistrationRepair(client, registration, Optional.of(() -> {})).look().isFault())
        .isFalse();
  }
}
