package dev.sluice.server.certificates;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.Configuration.BindAddress;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.server.Fakes;
import dev.sluice.server.TrustAll;
import dev.sluice.server.certificates.ServerKeys.CertificateSource;
import dev.sluice.server.http.HttpService;
import dev.sluice.server.http.Response;
import dev.sluice.server.http.TlsSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which certificate each server shows. */
class ServerKeysTest {

  private static CertificateWithKey write(Path directory, String name) throws Exception {
    CertificateWithKey made = Fakes.selfMade(name);
    Files.createDirectories(directory);
    Files.writeString(directory.resolve("tls.crt"), made.certificatePem());
    Files.writeString(directory.resolve("tls.key"), made.keyPem());
    return made;
  }

  private static Certificate shown(ReloadableKeyManager keys) throws Exception {
    SSLContext client = SSLContext.getInstance("TLS");
    client.init(null, new TrustManager[] {new TrustAll()}, new SecureRandom());
    try (HttpService server =
            HttpService.tls(
                new BindAddress("127.0.0.1", 0),
                keys.context(),
                TlsSettings.STRICT,
                request -> Response.text(200, "ok"),
                Duration.ZERO);
        SSLSocket socket =
            (SSLSocket) client.getSocketFactory().createSocket("127.0.0.1", server.port())) {
      socket.startHandshake();
      return socket.getSession().getPeerCertificates()[0];
    }
  }

  private static void refresh(List<CertificateSource> sources) throws Exception {
    for (CertificateSource source : sources) {
      source.refresh();
    }
  }

  @Test
  void eachServerShowsTheCertificateOfItsDirectory(@TempDir Path root) throws Exception {
    ServerKeys keys = ServerKeys.separate();
    List<CertificateSource> sources =
        keys.directories(root.resolve("w"), root.resolve("m"), root.resolve("v"));
    CertificateWithKey webhooks = write(root.resolve("w"), "webhooks.example");
    CertificateWithKey metrics = write(root.resolve("m"), "metrics.example");

    refresh(sources);

    assertThat(shown(keys.webhooks())).isEqualTo(webhooks.certificate());
    assertThat(shown(keys.metrics())).isEqualTo(metrics.certificate());
    assertThat(shown(keys.visibility()))
        .as("without a directory of its own")
        .isEqualTo(webhooks.certificate());

    CertificateWithKey renewed = write(root.resolve("m"), "metrics.example");
    CertificateWithKey visibility = write(root.resolve("v"), "visibility.example");
    refresh(sources);

    assertThat(shown(keys.webhooks())).isEqualTo(webhooks.certificate());
    assertThat(shown(keys.metrics())).isEqualTo(renewed.certificate());
    assertThat(shown(keys.visibility())).isEqualTo(visibility.certificate());
  }

  @Test
  void aCertificateInUseIsExpiredFromItsEndOn() throws Exception {
    ReloadableKeyManager keys = new ReloadableKeyManager();
    assertThat(keys.expiry()).isEmpty();
    assertThat(keys.isExpired(Instant.MAX)).as("none in use").isFalse();

    keys.use(Fakes.selfMade("webhooks.example"));

    Instant end = keys.expiry().orElseThrow();
    assertThat(keys.isExpired(end.minusSeconds(1))).isFalse();
    assertThat(keys.isExpired(end)).isTrue();
  }

  @Test
  void theCertificateThatTheOperatorMakesIsForAllServers() {
    ServerKeys keys = ServerKeys.shared();

    assertThat(keys.metrics()).isSameAs(keys.webhooks());
    assertThat(keys.visibility()).isSameAs(keys.webhooks());
  }
}
