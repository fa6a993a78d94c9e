package dev.sluice.server.certificates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.server.Fakes;
import dev.sluice.server.certificates.ServerKeys.CertificateDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CertificateDirectoryTest {

  @TempDir Path directory = Path.of(".");
  private final ReloadableKeyManager keys = new ReloadableKeyManager();

  private void put(String certificate, String key) throws IOException {
    Files.writeString(directory.resolve("tls.crt"), certificate);
    Files.writeString(directory.resolve("tls.key"), key);
  }

  @Test
  void changedFilesAreTakenWithoutRestart() throws Exception {
    CertificateWithKey first = Fakes.selfMade("first.example");
    CertificateWithKey second = Fakes.selfMade("second.example");
    put(first.certificatePem(), first.keyPem());
    try (CertificateRotator keeper =
        new CertificateRotator(new CertificateDirectory(directory, keys), Duration.ofMillis(20))) {
      assertThat(keeper.isReady()).isTrue();
      assertThat(keys.current().orElseThrow().certificate()).isEqualTo(first.certificate());

      put(second.certificatePem(), second.keyPem());

      await()
          .atMost(Duration.ofMinutes(2))
          .until(() -> keys.current().orElseThrow().certificate().equals(second.certificate()));
    }
  }

  @Test
  void filesThatComeLaterMakeItReady() throws Exception {
    CertificateWithKey material = Fakes.selfMade("a.example");
    try (CertificateRotator keeper =
        new CertificateRotator(new CertificateDirectory(directory, keys), Duration.ofMillis(20))) {
      assertThat(keeper.isReady()).isFalse();

      put(material.certificatePem(), material.keyPem());

      await().atMost(Duration.ofMinutes(2)).until(keeper::isReady);
    }
  }

  @Test
  void aKeyThatDoesntBelongToTheCertificateIsRefusedAndTheOldOneStays() throws Exception {
    CertificateWithKey first = Fakes.selfMade("first.example");
    CertificateWithKey second = Fakes.selfMade("second.example");
    put(first.certificatePem(), first.keyPem());
    CertificateDirectory source = new CertificateDirectory(directory, keys);
    source.refresh();

    put(second.certificatePem(), first.keyPem());

    assertThatThrownBy(source::refresh)
        .isInstanceOf(GeneralSecurityException.class)
        .hasMessageContaining("doesn't belong");
    assertThat(keys.current().orElseThrow().certificate()).isEqualTo(first.certificate());
  }

  @Test
  void aMissingFileIsNamed() {
    assertThatThrownBy(() -> new CertificateDirectory(directory, keys).refresh())
        .hasMessageContaining(directory.toString())
        .hasMessageContaining("tls.crt");
  }

  /** A server of its own directory shows that certificate, and one without shows another's. */
  @Test
  void aDirectoryThatExistsGoesBeforeTheOther(@TempDir Path parent) throws Exception {
    CertificateWithKey shared = Fakes.selfMade("shared.example");
    CertificateWithKey own = Fakes.selfMade("own.example");
    CertificateWithKey renewed = Fakes.selfMade("renewed.example");
    put(shared.certificatePem(), shared.keyPem());
    Path later = parent.resolve("metrics").resolve("certs");
    CertificateDirectory source = new CertificateDirectory(later, directory, keys);

    source.refresh();
    assertThat(keys.current().orElseThrow().certificate()).isEqualTo(shared.certificate());

    Files.createDirectories(later);
    assertThatThrownBy(source::refresh).hasMessageContaining(later.toString());
    assertThat(keys.current().orElseThrow().certificate()).isEqualTo(shared.certificate());

    Files.writeString(later.resolve("tls.crt"), own.certificatePem());
    Files.writeString(later.resolve("tls.key"), own.keyPem());
    source.refresh();
    assertThat(keys.current().orElseThrow().certificate()).isEqualTo(own.certificate());

    Files.writeString(later.resolve("tls.crt"), renewed.certificatePem());
    Files.writeString(later.resolve("tls.key"), renewed.keyPem());
    source.refresh();
    assertThat(keys.current().orElseThrow().certificate()).isEqualTo(renewed.certificate());
  }
}
