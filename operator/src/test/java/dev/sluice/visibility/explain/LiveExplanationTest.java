package dev.sluice.visibility.explain;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.server.certificates.ReloadableKeyManager;
import dev.sluice.visibility.explain.ExplainCommand.LiveExplanation;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LiveExplanationTest {

  private static final Duration VALIDITY = Duration.ofHours(1);

  @TempDir private Path directory = Path.of("");

  @Test
  void aCertificateThatIsNotTrustedIsToldWithWhereItsCaIs() throws Exception {
    CertificateAuthority maker =
        new CertificateAuthority(InstantSource.system(), new SecureRandom());
    CertificateWithKey authority = maker.authority(VALIDITY);
    Path other =
        Files.writeString(
            directory.resolve("other.crt"), maker.authority(VALIDITY).certificatePem());
    HttpsServer server =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(
        new HttpsConfigurator(context(maker.serving(authority, List.of("127.0.0.1"), VALIDITY))));
    server.start();
    try {
      URI operator = URI.create("https://127.0.0.1:" + server.getAddress().getPort());
      String where =
          "; it is ca.crt of Secret kueue-webhook-server-cert in the operator's namespace, unless"
              + " the installation names certificates of its own)";

      assertThat(explanation(operator, Optional.empty()).topology("gpu").text())
          .containsExactly(
              "(the operator at "
                  + operator
                  + " could not be asked: its certificate is not signed by an authority that is"
                  + " trusted here; name its CA with --operator-ca FILE"
                  + where);
      assertThat(explanation(operator, Optional.of(other)).topology("gpu").text())
          .containsExactly(
              "(the operator at "
                  + operator
                  + " could not be asked: its certificate is not signed by the CA of"
                  + " --operator-ca, "
                  + other
                  + where);
    } finally {
      server.stop(0);
    }
  }

  private static LiveExplanation explanation(URI operator, Optional<Path> authority) {
    return new LiveExplanation(operator, authority, Optional.of("token"), Optional.empty());
  }

  private static SSLContext context(CertificateWithKey serving) throws GeneralSecurityException {
    ReloadableKeyManager keys = new ReloadableKeyManager();
    keys.use(serving);
    return keys.context();
  }
}
