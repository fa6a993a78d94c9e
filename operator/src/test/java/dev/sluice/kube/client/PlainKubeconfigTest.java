package dev.sluice.kube.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.kube.client.ClientConfigs.ClusterAccess;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which kubeconfigs are read without the client library, and as what. */
class PlainKubeconfigTest {

  private static final String SERVER = "server: 'https://one.test:6443'";
  private static final String TOKEN = "token: abc";

  @TempDir private Path directory;

  private Path file(String cluster, String user) throws IOException {
    return Files.writeString(
        directory.resolve("kc"),
        """
        apiVersion: v1
        kind: Config
        current-context: two
        contexts:
        - {name: one, context: {cluster: other, user: other}}
        - {name: two, context: {cluster: c, user: u, namespace: team}}
        clusters:
        - {name: other, cluster: {server: "https://other.test"}}
        - {name: c, cluster: {%s}}
        users:
        - {name: other, user: {token: x}}
        - {name: u, user: {%s}}
        """
            .formatted(cluster, user));
  }

  private static Optional<ClusterAccess> read(Path file) {
    return PlainKubeconfig.read(Optional.of(file), Map.of());
  }

  @Test
  void aTokenIsThatOfTheCurrentContext() throws IOException {
    assertThat(read(file(SERVER, TOKEN)))
        .hasValue(
            new ClusterAccess(
                URI.create("https://one.test:6443"),
                Optional.empty(),
                Optional.empty(),
                Optional.of("abc"),
                Optional.of("team")));
  }

  @Test
  void certificatesAreTextOrFilesBesideTheKubeconfig() throws IOException {
    Files.writeString(directory.resolve("ca.pem"), "authority");
    Files.writeString(directory.resolve("key.pem"), "key");
    ClusterAccess access =
        read(file(
                SERVER + ", certificate-authority: ca.pem",
                "client-certificate-data: %s, client-key: %s"
                    .formatted(base64("chain"), directory.resolve("key.pem"))))
            .orElseThrow();

    assertThat(access.authority()).hasValue("authority");
    assertThat(access.certificate().orElseThrow().chain()).isEqualTo("chain");
    assertThat(access.certificate().orElseThrow().key()).isEqualTo("key");
    assertThat(access.toString() + access.certificate()).doesNotContain("key");
  }

  @Test
  void theUsualFileIsThatOfTheEnvironment() throws IOException {
    Path file = file(SERVER, TOKEN);
    Files.createDirectory(directory.resolve(".kube"));

    assertThat(PlainKubeconfig.read(Optional.empty(), Map.of("KUBECONFIG", file.toString())))
        .isPresent();
    assertThat(PlainKubeconfig.read(Optional.empty(), Map.of("HOME", directory.toString())))
        .isEmpty();

    Files.move(file, directory.resolve(".kube/config"));

    assertThat(PlainKubeconfig.read(Optional.empty(), Map.of("HOME", directory.toString())))
        .isPresent();
    assertThat(
            PlainKubeconfig.read(
                Optional.empty(), Map.of("KUBECONFIG", file + ":" + file, "HOME", "/")))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "exec: {command: aws}",
        "auth-provider: {name: oidc}",
        "username: a, password: b",
        "token: abc, as: admin",
        "tokenFile: /t",
        "client-certificate-data: YQ==",
        "client-certificate: /no/such, client-key: /no/such",
        "",
      })
  void otherUsersAreLeftToTheClientLibrary(String user) throws IOException {
    assertThat(read(file(SERVER, user))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "server: 'https://one.test', insecure-skip-tls-verify: true",
        "server: 'https://one.test', tls-server-name: two.test",
        "server: 'https://one.test', proxy-url: 'http://p.test'",
        "server: 'https://one.test/clusters/a'",
        "server: 'one test'",
        "server: {}",
        "",
      })
  void otherClustersAreLeftToTheClientLibrary(String cluster) throws IOException {
    assertThat(read(file(cluster, TOKEN))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"HTTPS_PROXY", "no_proxy", "KUBERNETES_MASTER"})
  void anEnvironmentThatChangesTheAccessIsLeftToTheClientLibrary(String variable)
      throws IOException {
    assertThat(PlainKubeconfig.read(Optional.of(file(SERVER, TOKEN)), Map.of(variable, "x")))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[", "- a", "contexts: {}", "current-context: two"})
  void whatIsNoKubeconfigIsLeftToTheClientLibrary(String text) throws IOException {
    assertThat(read(Files.writeString(directory.resolve("other"), text))).isEmpty();
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
  }
}
