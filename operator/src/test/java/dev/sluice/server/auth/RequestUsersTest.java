package dev.sluice.server.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.server.auth.RequestUsers.AuthenticatingProxy;
import dev.sluice.server.auth.RequestUsers.ClusterAuthentication;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.RequestBody;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** By what a request shows whose it is. */
@EnableKubernetesMockClient
class RequestUsersTest {

  private static final String PATH =
      "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
  private static final Duration DAY = Duration.ofDays(1);

  private final CertificateAuthority maker =
      new CertificateAuthority(InstantSource.system(), new SecureRandom());
  private final CertificateAuthority early =
      new CertificateAuthority(() -> Instant.now().minus(Duration.ofDays(3)), new SecureRandom());
  private volatile Instant now = Instant.EPOCH;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  private RequestUsers users() {
    return new RequestUsers(client, Duration.ofMinutes(1), Duration.ofSeconds(10), () -> now);
  }

  private static Request request(
      List<X509Certificate> certificates, Map<String, List<String>> headers) {
    return new Request("GET", "/", "", headers, RequestBody.EMPTY, certificates);
  }

  private static Optional<String> name(RequestUsers users, List<X509Certificate> certificates) {
    return users.of(request(certificates, Map.of())).map(UserInfo::getUsername);
  }

  private void publish(String pem) {
    publish(Map.of("client-ca-file", pem));
  }

  private void publish(Map<String, String> data) {
    server
        .expect()
        .get()
        .withPath(PATH)
        .andReturn(200, new ConfigMapBuilder().withData(data).build())
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

    List<X509Certificate> shown = issued(maker, authority, "a,b=\"c\"", "team+x", "ops");
    assertThat(users().of(request(shown, Map.of())))
        .hasValueSatisfying(
            user -> {
              assertThat(user.getUsername()).isEqualTo("a,b=\"c\"");
              assertThat(user.getGroups()).containsExactly("team+x", "ops", "system:authenticated");
            });
  }

  @Test
  void othersAreNobody() throws Exception {
    CertificateWithKey authority = maker.authority("cluster", DAY);
    publish(authority.certificatePem());
    RequestUsers users = users();

    assertThat(name(users, issued(maker, maker.authority("cluster", DAY), "eve")))
        .as("signed by a stranger of the same name")
        .isEmpty();
    assertThat(name(users, issued(early, authority, "late"))).as("expired").isEmpty();
    assertThat(name(users, maker.serving(authority, List.of("localhost"), DAY).chain()))
        .as("for servers")
        .isEmpty();
    assertThat(name(users, issued(maker, authority, ""))).as("without a name").isEmpty();
    CertificateWithKey known = maker.client(authority, maker.ellipticKeys(), "ann", List.of(), DAY);
    assertThat(name(users, issued(maker, known, "eve"))).as("signed by a client").isEmpty();
  }

  @Test
  void aProxyOfItsOwnAuthorityNamesUsersButNoneOfTheSystem(@TempDir Path folder) throws Exception {
    CertificateWithKey authority = maker.authority("proxy", DAY);
    Path file = Files.writeString(folder.resolve("ca.crt"), authority.certificatePem());
    AuthenticatingProxy proxy =
        new AuthenticatingProxy(file, List.of("oauth"), "X-Forwarded-User", "X-Forwarded-Groups");
    server
        .expect()
        .get()
        .withPath(PATH)
        .andReturn(200, new ConfigMapBuilder().withData(Map.of()).build())
        .always();
    RequestUsers users = new RequestUsers(client, Optional.of(proxy), DAY, DAY, () -> now);
    Map<String, List<String>> ann =
        Map.of(
            "x-forwarded-user", List.of("ann"),
            "x-forwarded-groups", List.of("team, system:masters", "ops"));
    List<X509Certificate> shown = issued(maker, authority, "oauth");

    assertThat(users.of(request(shown, ann)))
        .hasValueSatisfying(
            user -> {
              assertThat(user.getUsername()).isEqualTo("ann");
              assertThat(user.getGroups()).containsExactly("team", "ops", "system:authenticated");
            });
    for (List<String> names :
        List.of(List.<String>of(), List.of(""), List.of("system:admin"), List.of("a", "b"))) {
      assertThat(users.of(request(shown, Map.of("x-forwarded-user", names)))).isEmpty();
    }
    assertThat(users.of(request(List.of(), ann))).as("without a certificate").isEmpty();
    assertThat(users.of(request(issued(maker, authority, "eve"), ann))).as("other name").isEmpty();
    assertThat(users.of(request(issued(maker, maker.authority("proxy", DAY), "oauth"), ann)))
        .as("other authority")
        .isEmpty();
    Files.delete(file);
    assertThat(users.of(request(shown, ann))).as("the file is gone").isEmpty();
  }

  @Test
  void anotherAuthorityCountsWhenTheyAreReadAgain() throws Exception {
    CertificateWithKey first = maker.authority("one", DAY);
    CertificateWithKey second = maker.authority("two", DAY);
    publish(first.certificatePem());
    publish(first.certificatePem() + second.certificatePem());
    publish(second.certificatePem());
    RequestUsers users = users();
    List<X509Certificate> before = issued(maker, first, "ann");
    List<X509Certificate> after = issued(maker, second, "bob");

    assertThat(name(users, before)).contains("ann");
    assertThat(name(users, after)).isEmpty();
    now = now.plus(ClusterAuthentication.TTL);
    assertThat(name(users, before)).contains("ann");
    assertThat(name(users, after)).contains("bob");
    now = now.plus(ClusterAuthentication.TTL);
    assertThat(name(users, before)).isEmpty();
    assertThat(name(users, after)).contains("bob");
  }

  @Test
  void whenTheyCannotBeReadNobodyIsKnownAndTheClusterIsNotAskedEachTime() throws Exception {
    CertificateWithKey authority = maker.authority("cluster", DAY);
    server.expect().get().withPath(PATH).andReturn(403, "no").once();
    publish(authority.certificatePem());
    RequestUsers users = users();
    List<X509Certificate> ann = issued(maker, authority, "ann");

    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> name(users, ann)).isInstanceOf(KubernetesClientException.class);
    }
    assertThat(server.getRequestCount()).isEqualTo(1);
    now = now.plus(ClusterAuthentication.TTL);
    assertThat(name(users, ann)).contains("ann");
  }

  @Test
  void aClusterWithoutAuthoritiesKnowsNobody() throws Exception {
    List<X509Certificate> ann = issued(maker, maker.authority("cluster", DAY), "ann");
    RequestUsers users = users();

    assertThat(name(users, ann)).as("no map").isEmpty();
    publish("no certificate");
    now = now.plus(ClusterAuthentication.TTL);
    assertThat(name(users, ann)).isEmpty();
  }

  /** What an API server sends when it passes on a request of Ann's. */
  private static final Map<String, List<String>> OF_ANN =
      Map.of(
          "x-remote-user",
          List.of("ann"),
          "x-remote-uid",
          List.of("42"),
          "x-remote-group",
          List.of("team", "system:authenticated"),
          "x-remote-extra-example.com%2fscopes",
          List.of("a", "b"));

  private static Map<String, String> proxied(
      CertificateWithKey authority, CertificateWithKey clients) throws GeneralSecurityException {
    return Map.of(
        "client-ca-file", clients.certificatePem(),
        "requestheader-client-ca-file", authority.certificatePem(),
        "requestheader-allowed-names", "[\"front-proxy-client\"]",
        "requestheader-username-headers", "[\"X-Remote-User\"]",
        "requestheader-uid-headers", "[\"X-Remote-Uid\"]",
        "requestheader-group-headers", "[\"X-Remote-Group\"]",
        "requestheader-extra-headers-prefix", "[\"X-Remote-Extra-\"]");
  }

  /** The API server itself discovers as a user without groups, and lets those do so who log in. */
  @Test
  void whoLoggedInAtTheApiServerIsOfTheGroupOfThose() throws Exception {
    CertificateWithKey authority = maker.authority("front proxy", DAY);
    publish(proxied(authority, maker.authority("cluster", DAY)));
    List<X509Certificate> shown = issued(maker, authority, "front-proxy-client");
    RequestUsers users = users();

    assertThat(users.of(request(shown, Map.of("x-remote-user", List.of("system:aggregator")))))
        .map(UserInfo::getGroups)
        .contains(List.of("system:authenticated"));
    assertThat(
            users.of(
                request(
                    shown,
                    Map.of(
                        "x-remote-user", List.of("system:anonymous"),
                        "x-remote-group", List.of("system:unauthenticated")))))
        .map(UserInfo::getGroups)
        .contains(List.of("system:unauthenticated"));
  }

  @Test
  void theFrontProxySaysWhoseRequestItPassesOn() throws Exception {
    CertificateWithKey authority = maker.authority("front proxy", DAY);
    publish(proxied(authority, maker.authority("cluster", DAY)));

    assertThat(users().of(request(issued(maker, authority, "front-proxy-client"), OF_ANN)))
        .hasValueSatisfying(
            user -> {
              assertThat(user.getUsername()).isEqualTo("ann");
              assertThat(user.getUid()).isEqualTo("42");
              assertThat(user.getGroups()).containsExactly("team", "system:authenticated");
              assertThat(user.getExtra())
                  .containsExactly(Map.entry("example.com/scopes", List.of("a", "b")));
            });
  }

  @Test
  void nobodyElseIsBelievedToPassOnRequests() throws Exception {
    CertificateWithKey authority = maker.authority("front proxy", DAY);
    CertificateWithKey clients = maker.authority("cluster", DAY);
    publish(proxied(authority, clients));
    RequestUsers users = users();

    assertThat(users.of(request(List.of(), OF_ANN))).as("no certificate").isEmpty();
    assertThat(users.of(request(issued(maker, authority, "another"), OF_ANN)))
        .as("a name that isn't allowed")
        .isEmpty();
    assertThat(users.of(request(issued(maker, clients, "eve"), OF_ANN)))
        .as("a user of the cluster")
        .map(UserInfo::getUsername)
        .contains("eve");
    assertThat(users.of(request(issued(early, authority, "front-proxy-client"), OF_ANN)))
        .as("expired")
        .isEmpty();
    assertThat(users.of(request(issued(maker, authority, "front-proxy-client"), Map.of())))
        .as("who passes on nobody's request is nobody")
        .isEmpty();
  }

  @Test
  void aTokenIsAskedForOnceInAWhile() {
    server
        .expect()
        .post()
        .withPath("/apis/authentication.k8s.io/v1/tokenreviews")
        .andReturn(
            201,
            new TokenReviewBuilder()
                .withNewStatus()
                .withAuthenticated(true)
                .withNewUser()
                .withUsername("ann")
                .endUser()
                .endStatus()
                .build())
        .once();
    RequestUsers users = users();
    Request request = request(List.of(), Map.of("authorization", List.of("bearer secret")));

    assertThat(users.of(request)).map(UserInfo::getUsername).contains("ann");
    assertThat(users.of(request)).map(UserInfo::getUsername).contains("ann");
    assertThat(server.getRequestCount()).isEqualTo(1);
    now = now.plus(Duration.ofMinutes(1));
    assertThatThrownBy(() -> users.of(request))
        .as("asked again, and the server doesn't know")
        .isInstanceOf(KubernetesClientException.class);
  }
}
