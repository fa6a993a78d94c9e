package dev.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.server.RequestAuthorizer.Decision;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Whose certificate is taken for which user. */
@EnableKubernetesMockClient
class ClientCertificateAuthorizerTest {

  private static final String PATH =
      "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
  private static final Duration DAY = Duration.ofDays(1);

  private final CertificateAuthority maker =
      new CertificateAuthority(InstantSource.system(), new SecureRandom());
  private final CertificateAuthority early =
      new CertificateAuthority(() -> Instant.now().minus(Duration.ofDays(3)), new SecureRandom());
  private volatile Instant now = Instant.EPOCH;
  private final List<String> asked = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  private ClientCertificateAuthorizer authorizer() {
    return new ClientCertificateAuthorizer(
        new ClusterClientAuthorities(client, () -> now),
        text -> {
          asked.add(text);
          return Decision.ALLOWED;
        });
  }

  private void publish(String pem) {
    server
        .expect()
        .get()
        .withPath(PATH)
        .andReturn(200, new ConfigMapBuilder().withData(Map.of("client-ca-file", pem)).build())
        .once();
  }

  private List<X509Certificate> issued(
      CertificateAuthority by, CertificateWithKey authority, String user, String... groups)
      throws Exception {
    return by.client(authority, maker.ellipticKeys(), user, List.of(groups), DAY).chain();
  }

  @Test
  void theCommonNameIsTheUserAndTheOrganizationsAreTheGroups() throws Exception {
    CertificateWithKey authority = maker.authority("cluster", DAY);
    publish(authority.certificatePem());

    assertThat(authorizer().decide(issued(maker, authority, "a,b=\"c\"", "team+x", "ops")))
        .isEqualTo(Decision.ALLOWED);
    assertThat(asked)
        .containsExactly(
            "{\"user\":\"a,b=\\\"c\\\"\",\"groups\":[\"team+x\",\"ops\",\"system:authenticated\"]}");
    assertThat(ClientCertificateAuthorizer.user(asked.getFirst()))
        .satisfies(
            user -> {
              assertThat(user.getUsername()).isEqualTo("a,b=\"c\"");
              assertThat(user.getGroups()).containsExactly("team+x", "ops", "system:authenticated");
            });
  }

  @Test
  void othersAreNobody() throws Exception {
    CertificateWithKey authority = maker.authority("cluster", DAY);
    publish(authority.certificatePem());
    ClientCertificateAuthorizer authorizer = authorizer();

    assertThat(authorizer.decide(issued(maker, maker.authority("cluster", DAY), "eve")))
        .as("signed by a stranger of the same name")
        .isEqualTo(Decision.UNAUTHENTICATED);
    assertThat(authorizer.decide(issued(early, authority, "late")))
        .as("expired")
        .isEqualTo(Decision.UNAUTHENTICATED);
    assertThat(authorizer.decide(maker.serving(authority, List.of("localhost"), DAY).chain()))
        .as("for servers")
        .isEqualTo(Decision.UNAUTHENTICATED);
    assertThat(authorizer.decide(issued(maker, authority, "")))
        .as("without a name")
        .isEqualTo(Decision.UNAUTHENTICATED);
    CertificateWithKey known = maker.client(authority, maker.ellipticKeys(), "ann", List.of(), DAY);
    assertThat(authorizer.decide(issued(maker, known, "eve")))
        .as("signed by a client")
        .isEqualTo(Decision.UNAUTHENTICATED);
    assertThat(asked).isEmpty();
  }

  @Test
  void anotherAuthorityCountsWhenTheyAreReadAgain() throws Exception {
    CertificateWithKey first = maker.authority("one", DAY);
    CertificateWithKey second = maker.authority("two", DAY);
    publish(first.certificatePem());
    publish(first.certificatePem() + second.certificatePem());
    publish(second.certificatePem());
    ClientCertificateAuthorizer authorizer = authorizer();
    List<X509Certificate> before = issued(maker, first, "ann");
    List<X509Certificate> after = issued(maker, second, "ann");

    assertThat(authorizer.decide(before)).isEqualTo(Decision.ALLOWED);
    assertThat(authorizer.decide(after)).isEqualTo(Decision.UNAUTHENTICATED);
    now = now.plus(ClusterClientAuthorities.TTL);
    assertThat(authorizer.decide(before)).isEqualTo(Decision.ALLOWED);
    assertThat(authorizer.decide(after)).isEqualTo(Decision.ALLOWED);
    now = now.plus(ClusterClientAuthorities.TTL);
    assertThat(authorizer.decide(before)).isEqualTo(Decision.UNAUTHENTICATED);
    assertThat(authorizer.decide(after)).isEqualTo(Decision.ALLOWED);
  }

  @Test
  void whenTheyCannotBeReadNobodyIsKnownAndTheClusterIsNotAskedEachTime() throws Exception {
    CertificateWithKey authority = maker.authority("cluster", DAY);
    server.expect().get().withPath(PATH).andReturn(403, "no").once();
    publish(authority.certificatePem());
    ClientCertificateAuthorizer authorizer = authorizer();
    List<X509Certificate> ann = issued(maker, authority, "ann");

    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> authorizer.decide(ann))
          .isInstanceOf(KubernetesClientException.class);
    }
    assertThat(server.getRequestCount()).isEqualTo(1);
    now = now.plus(ClusterClientAuthorities.TTL);
    assertThat(authorizer.decide(ann)).isEqualTo(Decision.ALLOWED);
  }

  @Test
  void aClusterWithoutAuthoritiesKnowsNobody() throws Exception {
    List<X509Certificate> ann = issued(maker, maker.authority("cluster", DAY), "ann");
    ClientCertificateAuthorizer authorizer = authorizer();

    assertThat(authorizer.decide(ann)).as("no map").isEqualTo(Decision.UNAUTHENTICATED);
    publish("no certificate");
    now = now.plus(ClusterClientAuthorities.TTL);
    assertThat(authorizer.decide(ann)).isEqualTo(Decision.UNAUTHENTICATED);
  }
}
