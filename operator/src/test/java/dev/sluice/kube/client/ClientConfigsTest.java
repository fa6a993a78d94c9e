package dev.sluice.kube.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.kube.certificates.Pem;
import dev.sluice.kube.client.ClientConfigs.KubeconfigException;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.internal.SSLUtils;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.X509KeyManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the client library makes of the client keys in a configuration. */
class ClientConfigsTest {

  private static final String PARAMETERS =
      "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";

  @TempDir private Path directory;

  private static CertificateWithKey credential() throws Exception {
    return new CertificateAuthority(InstantSource.system(), new SecureRandom())
        .authority(Duration.ofDays(1));
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static Config config(String certificate, String key) {
    return new ConfigBuilder(Config.empty())
        .withClientCertData(base64(certificate))
        .withClientKeyData(base64(key))
        .build();
  }

  /** The key that the client library presents. */
  private static PrivateKey presented(Config config) throws Exception {
    KeyManager[] managers = SSLUtils.keyManagers(config);
    X509KeyManager manager = (X509KeyManager) managers[0];
    return Arrays.stream(Optional.ofNullable(manager.getClientAliases("EC", null)).orElseThrow())
        .map(manager::getPrivateKey)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void theClientLibraryDoesNotRepeatRequests() throws Exception {
    Path kubeconfig = directory.resolve("kubeconfig");
    Files.writeString(
        kubeconfig,
        """
        apiVersion: v1
        kind: Config
        current-context: here
        contexts: [{name: here, context: {cluster: one}}]
        clusters: [{name: one, cluster: {server: "https://127.0.0.1:6443"}}]
        """);

    assertThat(ClientConfigs.of(Optional.of(kubeconfig)).getRequestRetryBackoffLimit()).isZero();
  }

  @Test
  void aKubeconfigWithoutAClusterIsNoPod() throws Exception {
    Path kubeconfig = directory.resolve("kubeconfig");
    Files.writeString(kubeconfig, "apiVersion: v1\nkind: Config\n");

    assertThatThrownBy(() -> ClientConfigs.of(Optional.of(kubeconfig)))
        .isInstanceOf(KubeconfigException.class)
        .hasMessage(kubeconfig + " is not a kubeconfig: it has no current context with a cluster");
  }

  @Test
  void ellipticKeysInPkcs8AreRead() throws Exception {
    CertificateWithKey credential = credential();
    String key = credential.keyPem();
    assertThat(key).startsWith("-----BEGIN PRIVATE KEY-----");

    Config config = ClientConfigs.withReadableKey(config(credential.certificatePem(), key));

    assertThat(presented(config)).isEqualTo(credential.key());
  }

  @Test
  void ellipticKeysInSec1AreRead() throws Exception {
    CertificateWithKey credential = credential();
    String key = Pem.ellipticKey(credential.key());
    assertThat(key).startsWith("-----BEGIN EC PRIVATE KEY-----");

    Config plain = ClientConfigs.withReadableKey(config(credential.certificatePem(), key));
    Config withParameters =
        ClientConfigs.withReadableKey(config(credential.certificatePem(), PARAMETERS + key));

    assertThat(presented(plain)).isEqualTo(credential.key());
    assertThat(presented(withParameters)).isEqualTo(credential.key());
  }

  @ParameterizedTest
  @ValueSource(strings = {"secp256r1", "secp384r1", "secp521r1"})
  void keysOfEveryCurveKeepTheirValue(String curve) throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec(curve));
    KeyPair pair = generator.generateKeyPair();

    ECPrivateKey key = (ECPrivateKey) pair.getPrivate();
    ECPrivateKey read = (ECPrivateKey) Pem.privateKey(Pem.ellipticKey(key));

    assertThat(read.getS()).isEqualTo(key.getS());
    assertThat(read.getParams().getCurve()).isEqualTo(key.getParams().getCurve());
  }

  @Test
  void keysInFilesOfAKubeconfigAreRead() throws Exception {
    CertificateWithKey credential = credential();
    Path certificate = Files.writeString(directory.resolve("tls.crt"), credential.certificatePem());
    Path key = Files.writeString(directory.resolve("tls.key"), credential.keyPem());

    Config config =
        ClientConfigs.of(
            Optional.of(
                kubeconfig(
                    "client-certificate: " + certificate + "\n    client-key: " + key + "\n")));

    assertThat(presented(config)).isEqualTo(credential.key());
  }

  /** One that needs nothing of the client library is as the library reads it. */
  @Test
  void plainKubeconfigsAreWhatTheLibraryReads() throws Exception {
    CertificateWithKey credential = credential();
    Path certificate = Files.writeString(directory.resolve("tls.crt"), credential.certificatePem());
    Path key = Files.writeString(directory.resolve("tls.key"), credential.keyPem());
    for (String user :
        List.of(
            "token: abc",
            "client-certificate: " + certificate + "\n    client-key: " + key + "\n")) {
      Path file = kubeconfig(user);

      Config config = ClientConfigs.of(Optional.of(file));
      Config library = ClientConfigs.withReadableKey(Config.fromKubeconfig(file.toFile()));

      assertThat(config)
          .returns(library.getMasterUrl(), Config::getMasterUrl)
          .returns(library.getOauthToken(), Config::getOauthToken)
          .returns(library.getAutoOAuthToken(), Config::getAutoOAuthToken)
          .returns(library.getNamespace(), Config::getNamespace)
          .returns(library.isTrustCerts(), Config::isTrustCerts)
          .returns(library.isHttp2Disable(), Config::isHttp2Disable)
          .returns(library.getConnectionTimeout(), Config::getConnectionTimeout)
          .returns(library.getWatchReconnectLimit(), Config::getWatchReconnectLimit);
      if (!user.startsWith("token")) {
        assertThat(config.getClientKeyAlgo()).isEqualTo(library.getClientKeyAlgo());
        assertThat(presented(config)).isEqualTo(presented(library));
      }
    }
  }

  private Path kubeconfig(String user) throws IOException {
    return Files.writeString(
        directory.resolve("kubeconfig"),
        """
        apiVersion: v1
        kind: Config
        clusters:
        - name: c
          cluster:
            server: https://localhost:1
        contexts:
        - name: x
          context:
            cluster: c
            user: u
        current-context: x
        users:
        - name: u
          user:
            %s
        """
            .formatted(user));
  }

  @Test
  void otherKeysStayAsTheyAre() throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(2048);
    String rsa = Pem.key(generator.generateKeyPair().getPrivate());

    for (String key : new String[] {rsa, "no key"}) {
      Config config = ClientConfigs.withReadableKey(config("", key));
      assertThat(config.getClientKeyData()).isEqualTo(base64(key));
    }
    assertThat(ClientConfigs.withReadableKey(Config.empty()).getClientKeyData()).isNull();
  }
}
