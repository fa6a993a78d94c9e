package dev.sluice.server.certificates;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.server.Fakes;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class InternalCertificatesTest {

  private static final List<String> HOSTS =
      InternalCertificates.serviceHosts("kueue-webhook-service", "kueue-system");

  private final Fakes.Clock clock = new Fakes.Clock();
  private final Fakes.Secret secret = new Fakes.Secret();
  private final Fakes.Publisher publisher = new Fakes.Publisher();
  private final ReloadableKeyManager keys = new ReloadableKeyManager();
  private final InternalCertificates certificates = replica(keys, HOSTS);

  private InternalCertificates replica(ReloadableKeyManager own, List<String> hosts) {
    return new InternalCertificates(secret, publisher, own, hosts, clock, new SecureRandom());
  }

  private X509Certificate shown() {
    return keys.current().orElseThrow().certificate();
  }

  @Test
  void makesAnAuthorityAndACertificateForTheService() throws Exception {
    certificates.refresh();

    X509Certificate authority = publisher.trusted().getFirst();
    assertThat(authority.getSubjectX500Principal().getName())
        .contains("CN=kueue-ca")
        .contains("O=kueue");
    shown().verify(authority.getPublicKey());
    shown().checkValidity(Date.from(clock.instant()));
    assertThat(shown().getSubjectAlternativeNames())
        .extracting(name -> (Object) name.get(1))
        .contains("kueue-webhook-service.kueue-system.svc");
    assertThat(secret.read().orElseThrow().data())
        .containsOnlyKeys("ca.crt", "ca.key", "tls.crt", "tls.key");
  }

  @Test
  void asksForNothingNewWhileEverythingIsGood() throws Exception {
    certificates.refresh();
    X509Certificate first = shown();

    clock.advance(Duration.ofDays(200));
    certificates.refresh();

    assertThat(shown()).isEqualTo(first);
    assertThat(secret.writes).isEqualTo(1);
  }

  @Test
  void replicasShareOneCertificate() throws Exception {
    certificates.refresh();
    ReloadableKeyManager second = new ReloadableKeyManager();
    replica(second, HOSTS).refresh();

    assertThat(second.current().orElseThrow().certificate()).isEqualTo(shown());
    assertThat(secret.writes).isEqualTo(1);
  }

  @Test
  void theReplicaThatIsLaterTakesWhatTheFirstWrote() throws Exception {
    Fakes.Secret elsewhere = new Fakes.Secret();
    ReloadableKeyManager faster = new ReloadableKeyManager();
    new InternalCertificates(elsewhere, publisher, faster, HOSTS, clock, new SecureRandom())
        .refresh();
    secret.interference = Optional.of(() -> secret.put(elsewhere.read().orElseThrow().data()));

    certificates.refresh();

    assertThat(shown()).isEqualTo(faster.current().orElseThrow().certificate());
  }

  @Test
  void renewsTheCertificateBeforeItEndsAndKeepsTheAuthority() throws Exception {
    certificates.refresh();
    X509Certificate first = shown();
    List<X509Certificate> trusted = publisher.trusted();

    clock.advance(
        InternalCertificates.SERVING_VALIDITY.minus(InternalCertificates.SERVING_RENEWAL));
    certificates.refresh();

    assertThat(shown()).isNotEqualTo(first);
    shown().checkValidity(Date.from(clock.instant().plus(Duration.ofDays(300))));
    assertThat(publisher.trusted()).isEqualTo(trusted);
  }

  @Test
  void aNewAuthorityIsTrustedBeforeItIsUsedAndTheOldOneUntilItEnds() throws Exception {
    certificates.refresh();
    X509Certificate oldAuthority = publisher.trusted().getFirst();

    Duration toRenewal =
        InternalCertificates.AUTHORITY_VALIDITY.minus(InternalCertificates.AUTHORITY_RENEWAL);
    clock.advance(toRenewal.minus(Duration.ofDays(1)));
    certificates.refresh();
    X509Certificate before = shown();
    clock.advance(Duration.ofDays(1));
    certificates.refresh();

    assertThat(publisher.trusted()).hasSize(2).element(1).isEqualTo(oldAuthority);
    assertThat(shown()).as("still the old one").isEqualTo(before);

    clock.advance(InternalCertificates.ANNOUNCEMENT.plusSeconds(1));
    certificates.refresh();

    shown().verify(publisher.trusted().getFirst().getPublicKey());
    assertThat(publisher.trusted()).contains(oldAuthority);
  }

  @Test
  void namesOfAnotherReplicaAreKept() throws Exception {
    certificates.refresh();
    replica(new ReloadableKeyManager(), List.of("127.0.0.1", "localhost")).refresh();
    int writes = secret.writes;

    certificates.refresh();

    assertThat(secret.writes).isEqualTo(writes).isEqualTo(2);
    assertThat(shown().getSubjectAlternativeNames())
        .extracting(name -> (Object) name.get(1))
        .contains("127.0.0.1", "localhost", "kueue-webhook-service.kueue-system.svc");
  }

  @Test
  void whatCantBeReadIsReplaced() throws Exception {
    certificates.refresh();
    Map<String, byte[]> broken = new HashMap<>(secret.read().orElseThrow().data());
    broken.put("tls.key", "nonsense".getBytes(StandardCharsets.US_ASCII));
    secret.put(broken);
    X509Certificate first = shown();

    certificates.refresh();

    assertThat(shown()).isNotEqualTo(first);
    shown().verify(publisher.trusted().getFirst().getPublicKey());
  }

  @Test
  void anEmptySecretIsFilled() throws Exception {
    secret.put(Map.of());

    certificates.refresh();

    assertThat(secret.read().orElseThrow().data()).containsKey("tls.crt");
  }
}
