package dev.sluice.server.auth;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.api.config.Configuration.BindAddress;
import dev.sluice.api.conversion.ConversionWebhook;
import dev.sluice.api.conversion.HubConverter;
import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.kube.certificates.Pem;
import dev.sluice.server.Fakes;
import dev.sluice.server.TrustAll;
import dev.sluice.server.certificates.ReloadableKeyManager;
import dev.sluice.server.endpoints.WarmUp;
import dev.sluice.server.endpoints.WebhookEndpoint;
import dev.sluice.server.http.HttpService;
import dev.sluice.server.http.TlsSettings;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter;
import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Date;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A webhook server that was given an authority of its clients. */
class ClientCertificatesTest {

  private static final String PATH = "/validate-batch-v1-job";
  private static final String REVIEW =
      """
      {"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{
        "uid":"1","operation":"CREATE","object":{}}}
      """;

  @TempDir private Path directory;
  private final ReloadableKeyManager keys = new ReloadableKeyManager();
  private final CertificateAuthority maker =
      new CertificateAuthority(InstantSource.system(), new SecureRandom());

  private HttpService server(CertificateWithKey authority) throws Exception {
    keys.use(Fakes.selfMade("localhost"));
    Path file = directory.resolve("ca.crt");
    Files.writeString(file, Pem.certificates(List.of(authority.certificate())));
    WebhookRouter router = new WebhookRouter(Map.of(PATH, request -> AdmissionResult.allowed()));
    return HttpService.tls(
        new BindAddress("127.0.0.1", 0),
        keys.context(ClientAuthority.of(file, keys)),
        TlsSettings.STRICT,
        new WebhookEndpoint(
            router, new ConversionWebhook(new HubConverter()), true, (path, reason) -> {}),
        Duration.ZERO);
  }

  @Test
  void admissionIsForClientsOfTheAuthorityAndConversionForAll() throws Exception {
    CertificateWithKey authority = maker.authority(Duration.ofDays(2));
    try (HttpService server = server(authority);
        HttpClient nobody = client(new KeyManager[0]);
        HttpClient known = client(certified(authority));
        HttpClient stranger = client(certified(maker.authority(Duration.ofDays(2))))) {
      assertThat(post(nobody, server, PATH).statusCode()).isEqualTo(401);
      assertThat(post(nobody, server, "/convert").body()).contains("kind must be ConversionReview");
      assertThat(post(known, server, PATH).body()).contains("\"allowed\":true");
      assertThatThrownBy(() -> post(stranger, server, PATH)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void theWarmUpIsKnown() throws Exception {
    try (HttpService server = server(maker.authority(Duration.ofDays(2)))) {
      new WarmUp(keys, InstantSource.system())
          .run(
              "127.0.0.1",
              server.port(),
              List.of(new WarmUp.Sample(PATH, REVIEW.getBytes(UTF_8))),
              new WarmUp.Limits(1, Duration.ZERO, () -> false));
    }
  }

  @Test
  void aFileWithoutCertificateIsNamed() throws Exception {
    Path file = Files.writeString(directory.resolve("empty.crt"), "nothing");
    assertThatThrownBy(() -> ClientAuthority.of(file, keys))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("empty.crt");
  }

  private static HttpResponse<String> post(HttpClient client, HttpService server, String path)
      throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + server.port() + path))
            .POST(HttpRequest.BodyPublishers.ofString(REVIEW))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static HttpClient client(KeyManager[] certificates) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(certificates, new TrustManager[] {new TrustAll()}, new SecureRandom());
    return HttpClient.newBuilder().sslContext(context).build();
  }

  private static KeyManager[] certified(CertificateWithKey authority) throws Exception {
    KeyPair pair = KeyPairGenerator.getInstance("EC").generateKeyPair();
    JcaX509v3CertificateBuilder builder =
        new JcaX509v3CertificateBuilder(
            X500Name.getInstance(authority.certificate().getSubjectX500Principal().getEncoded()),
            BigInteger.TWO,
            Date.from(Instant.now().minusSeconds(3600)),
            Date.from(Instant.now().plusSeconds(3600)),
            new X500Name("CN=kube-apiserver"),
            pair.getPublic());
    builder.addExtension(
        Extension.extendedKeyUsage, false, new ExtendedKeyUsage(KeyPurposeId.id_kp_clientAuth));
    X509Certificate certificate =
        new JcaX509CertificateConverter()
            .getCertificate(
                builder.build(
                    new JcaContentSignerBuilder("SHA256withECDSA").build(authority.key())));
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    store.setKeyEntry("client", pair.getPrivate(), new char[0], new Certificate[] {certificate});
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(store, new char[0]);
    return factory.getKeyManagers();
  }
}
