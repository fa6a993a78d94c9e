package dev.sluice.checks.multikueue.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.sluice.checks.multikueue.access.WorkerAccess.ClusterReason;
import dev.sluice.checks.multikueue.access.WorkerCredentials.Impersonation;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Which kubeconfigs are taken, and what is said of the others. */
class KubeconfigValidatorTest {

  private static final String GOOD =
      """
      apiVersion: v1
      kind: Config
      current-context: main
      contexts:
      - name: main
        context: {cluster: site, user: robot}
      - name: other
        context: {cluster: site, user: nobody}
      clusters:
      - name: site
        cluster:
          server: https://10.0.0.1:6443
          certificate-authority-data: CA
      - name: unused
        cluster: {server: "https://unused.example"}
      users:
      - name: robot
        user:
          token: abc.def
      - name: spare
        user: {token: other}
      """
          .replace("CA", Pems.CERTIFICATE);

  private static final String SITE = "clusters[site].cluster";
  private static final String ROBOT = "users[robot].user";
  private static final String LOGIN =
      "allowed: token, or client-certificate-data with client-key-data";

  private static final String PROXY =
      "allowed: http://host:port or socks5://host:port, with a user or without";
  private static final String HEADER =
      "is empty, or has a character that a header can't have; allowed: visible characters of"
          + " ASCII, and spaces between them";

  private static WorkerAccess.Refused refused(String kubeconfig) {
    assertThat(KubeconfigValidator.read(kubeconfig)).isInstanceOf(WorkerAccess.Refused.class);
    return (WorkerAccess.Refused) KubeconfigValidator.read(kubeconfig);
  }

  private static Arguments changed(String from, String to, ClusterReason reason, String message) {
    assertThat(GOOD).contains(from);
    return arguments(GOOD.replace(from, to), reason, message);
  }

  private static Arguments ofCluster(String field, ClusterReason reason, String message) {
    String server = "server: https://10.0.0.1:6443\n";
    return changed(server, server + "    " + field + "\n", reason, message);
  }

  private static Arguments ofUser(String field, ClusterReason reason, String message) {
    return field.startsWith("{")
        ? changed("\n    token: abc.def\n", " " + field + "\n", reason, message)
        : changed("token: abc.def\n", field + "\n", reason, message);
  }

  static Stream<Arguments> refusals() {
    ClusterReason bad = ClusterReason.BAD_KUBE_CONFIG;
    ClusterReason insecure = ClusterReason.INSECURE_KUBE_CONFIG;
    ClusterReason unsupported = ClusterReason.BAD_REST_CONFIG;
    String address = "allowed: https://host, or https://host:port";
    return Stream.of(
        // not a kubeconfig
        arguments("", bad, "kubeconfig: is not an object; allowed: a kubeconfig in YAML or JSON"),
        arguments("[]", bad, "kubeconfig: is not an object; allowed: a kubeconfig in YAML or JSON"),
        arguments(
            "a: {",
            bad,
            "kubeconfig: can't be parsed, see line 1; allowed: a kubeconfig in YAML or JSON"),
        changed(
            "current-context: main",
            "x: y",
            bad,
            "current-context: is missing; allowed: the name of one of contexts"),
        changed(
            "current-context: main",
            "current-context: none",
            bad,
            "current-context: \"none\" is not defined; allowed: main, other"),
        changed(
            "current-context: main",
            "current-context: other",
            bad,
            "contexts[other].context.user: \"nobody\" is not defined; allowed: robot, spare"),
        changed(
            "{cluster: site, user: robot}",
            "{cluster: nowhere, user: robot}",
            bad,
            "contexts[main].context.cluster: \"nowhere\" is not defined; allowed: site, unused"),
        changed(
            "- name: spare\n",
            "- name: robot\n",
            bad,
            "users[robot]: is given twice; allowed: each name once"),
        // the server
        changed(
            "    server: https://10.0.0.1:6443\n",
            "",
            bad,
            SITE + ".server: is missing; " + address),
        changed(
            "https://10.0.0.1:6443",
            "https://:6443",
            bad,
            SITE + ".server: \"https://:6443\" has no valid host; " + address),
        changed(
            "https://10.0.0.1:6443",
            "10.0.0.1:6443",
            bad,
            SITE + ".server: \"10.0.0.1:6443\" has no valid host; " + address),
        changed(
            "https://10.0.0.1:6443",
            "https://a b",
            bad,
            SITE + ".server: \"https://a b\" has no valid host; " + address),
        changed(
            "https://10.0.0.1:6443",
            "https://host_name",
            bad,
            SITE + ".server: \"https://host_name\" has no valid host; " + address),
        changed(
            "https://10.0.0.1:6443",
            "http://10.0.0.1",
            insecure,
            SITE + ".server: \"http://10.0.0.1\" is not encrypted; " + address),
        changed(
            "https://10.0.0.1:6443",
            "https://me:secret@10.0.0.1",
            insecure,
            SITE + ".server: a user in the address is not allowed; " + address),
        // whom the server is believed
        ofCluster(
            "insecure-skip-tls-verify: true",
            insecure,
            SITE
                + ".insecure-skip-tls-verify: true is not allowed; allowed: false or absent; the"
                + " certificate of the server is always verified"),
        ofCluster(
            "insecure-skip-tls-verify: 'yes'",
            insecure,
            SITE
                + ".insecure-skip-tls-verify: true is not allowed; allowed: false or absent; the"
                + " certificate of the server is always verified"),
        ofCluster(
            "certificate-authority: /ca.crt",
            insecure,
            SITE
                + ".certificate-authority: \"/ca.crt\" is a file, which is not allowed; allowed:"
                + " certificate-authority-data with the certificates themselves"),
        changed(
            Pems.CERTIFICATE,
            "'%%%'",
            bad,
            SITE + ".certificate-authority-data: is not base64; allowed: base64 of PEM"),
        changed(
            Pems.CERTIFICATE,
            "bm8=",
            bad,
            SITE
                + ".certificate-authority-data: holds no certificate; allowed: base64 of PEM"
                + " certificates"),
        ofCluster(
            "tls-server-name: 'a b'",
            bad,
            SITE
                + ".tls-server-name: is not the name of a host; allowed: letters, digits and -"
                + " between dots, such as api.example.org"),
        ofCluster(
            "tls-server-name: \"api\\r\\nx\"",
            bad,
            SITE
                + ".tls-server-name: is not the name of a host; allowed: letters, digits and -"
                + " between dots, such as api.example.org"),
        ofCluster(
            "proxy-url: https://me:hunter2@proxy",
            unsupported,
            SITE + ".proxy-url: an encrypted connection to the proxy is not supported; " + PROXY),
        ofCluster(
            "proxy-url: ftp://me:hunter2@proxy",
            bad,
            SITE + ".proxy-url: is of no known kind; " + PROXY),
        ofCluster("proxy-url: hunter2", bad, SITE + ".proxy-url: has no valid host; " + PROXY),
        ofCluster(
            "proxy-url: http://proxy:99999", bad, SITE + ".proxy-url: has no valid port; " + PROXY),
        ofCluster(
            "proxy-url: http://proxy/hunter2",
            bad,
            SITE + ".proxy-url: has more than user, host and port; " + PROXY),
        // who asks
        ofUser(
            "tokenFile: /token",
            insecure,
            ROBOT + ".tokenFile: \"/token\" is a file, which is not allowed; " + LOGIN),
        ofUser(
            "username: admin",
            insecure,
            ROBOT + ".username: basic authentication is not allowed; " + LOGIN),
        ofUser(
            "password: hunter2",
            insecure,
            ROBOT + ".password: basic authentication is not allowed; " + LOGIN),
        ofUser(
            "auth-provider: {name: gcp, config: {a: b}}",
            insecure,
            ROBOT + ".auth-provider: \"gcp\" is not allowed; " + LOGIN),
        ofUser(
            "exec: {command: /bin/sh, args: [-c, hunter2]}",
            insecure,
            ROBOT
                + ".exec: running \"/bin/sh\" is not allowed; "
                + LOGIN
                + "; commands run only as access providers of a ClusterProfile"),
        ofUser(
            "token: \"a b\"",
            bad,
            ROBOT
                + ".token: has a space or another character no token has; allowed: a bearer token"),
        ofUser("token: 12", bad, ROBOT + ".token: is not text; allowed: a text"),
        ofUser(
            "client-certificate-data: " + Pems.CERTIFICATE,
            bad,
            ROBOT
                + ".client-key-data: is missing; allowed: both of client-certificate-data and"
                + " client-key-data, or none"),
        ofUser(
            "client-key-data: bm8=",
            bad,
            ROBOT
                + ".client-certificate-data: is missing; allowed: both of client-certificate-data"
                + " and client-key-data, or none"),
        ofUser(
            "client-certificate: /a.crt",
            insecure,
            ROBOT
                + ".client-certificate: \"/a.crt\" is a file, which only a kubeconfig in a file may"
                + " name; allowed: client-certificate-data"),
        ofUser(
            "client-key: /a.key",
            insecure,
            ROBOT
                + ".client-key: \"/a.key\" is a file, which only a kubeconfig in a file may name;"
                + " allowed: client-key-data"),
        ofUser(
            "client-certificate-data: bm8=",
            bad,
            ROBOT
                + ".client-certificate-data: holds no certificate; allowed: base64 of PEM"
                + " certificates"),
        // whom they act as
        ofUser(
            "as-groups: [system:masters]",
            bad,
            ROBOT + ".as-groups: is given without as; allowed: only together with as"),
        ofUser(
            "as-uid: \"1\"",
            bad,
            ROBOT + ".as-uid: is given without as; allowed: only together with as"),
        ofUser(
            "as-user-extra: {a: [b]}",
            bad,
            ROBOT + ".as-user-extra: is given without as; allowed: only together with as"),
        ofUser("as: \"boss\\r\\nAuthorization: x\"", bad, ROBOT + ".as: " + HEADER),
        ofUser("{as: boss, as-uid: ' 1'}", bad, ROBOT + ".as-uid: " + HEADER),
        ofUser("{as: boss, as-groups: [a, \"b\\n\"]}", bad, ROBOT + ".as-groups: " + HEADER),
        ofUser(
            "{as: boss, as-groups: x}",
            bad,
            ROBOT + ".as-groups: is not a list; allowed: a list of texts"),
        ofUser(
            "{as: boss, as-groups: [{}]}",
            bad,
            ROBOT + ".as-groups: has something else than texts; allowed: a list of texts"),
        ofUser(
            "{as: boss, as-user-extra: x}",
            bad,
            ROBOT
                + ".as-user-extra: is not an object; allowed: an object with a list of texts per"
                + " key"),
        ofUser(
            "{as: boss, as-user-extra: {\"a\\n\": [b]}}",
            bad,
            ROBOT + ".as-user-extra[a\n]: " + HEADER),
        // what the current context doesn't use
        changed(
            "{server: \"https://unused.example\"}",
            "{insecure-skip-tls-verify: true}",
            insecure,
            "clusters[unused].cluster.insecure-skip-tls-verify: true is not allowed; allowed: false"
                + " or absent; the certificate of the server is always verified"),
        changed(
            "{token: other}",
            "{exec: {command: x}}",
            insecure,
            "users[spare].user.exec: running \"x\" is not allowed; "
                + LOGIN
                + "; commands run only as access providers of a ClusterProfile"));
  }

  @ParameterizedTest
  @MethodSource("refusals")
  void whatIsNotAllowedIsRefused(String kubeconfig, ClusterReason reason, String message) {
    assertThat(refused(kubeconfig)).isEqualTo(new WorkerAccess.Refused(reason, message));
  }

  @ParameterizedTest
  @MethodSource("refusals")
  void noRefusalTellsASecret(String kubeconfig, ClusterReason reason, String message) {
    assertThat(refused(kubeconfig).message())
        .doesNotContain("hunter2")
        .doesNotContain("secret")
        .doesNotContain("abc.def");
  }

  @Test
  void whatIsAllowedIsTaken() {
    assertThat(KubeconfigValidator.read(GOOD))
        .isInstanceOfSatisfying(
            WorkerAccess.Usable.class,
            usable -> {
              assertThat(usable.workerCredentials().server()).hasToString("https://10.0.0.1:6443");
              assertThat(usable.workerCredentials().token()).contains("abc.def");
              assertThat(usable.workerCredentials().endpoint().authority())
                  .contains(Pems.CERTIFICATE);
            });
  }

  private static WorkerCredentials taken(String kubeconfig) {
    assertThat(KubeconfigValidator.read(kubeconfig)).isInstanceOf(WorkerAccess.Usable.class);
    return ((WorkerAccess.Usable) KubeconfigValidator.read(kubeconfig)).workerCredentials();
  }

  @Test
  void aServerMayHaveAnotherNameAndBeBehindAProxy() {
    WorkerCredentials workerCredentials =
        taken(
            GOOD.replace(
                "server: https://10.0.0.1:6443\n",
                """
                server: https://10.0.0.1:6443
                    tls-server-name: api.example.org
                    proxy-url: http://me:hunter%212@proxy.example
                """));

    assertThat(workerCredentials.endpoint().serverName()).hasValue("api.example.org");
    assertThat(workerCredentials.endpoint().proxy().orElseThrow())
        .hasToString("http://me:hunter%212@proxy.example:80");
    assertThat(workerCredentials.toString() + workerCredentials.endpoint())
        .doesNotContain("hunter");
    assertThat(workerCredentials.redact("proxy http://me:hunter%212@proxy, me:hunter!2"))
        .isEqualTo("proxy http://(secret)@proxy, (secret)");
  }

  @Test
  void aUserMayActAsAnother() {
    WorkerCredentials workerCredentials =
        taken(
            GOOD.replace(
                "token: abc.def\n",
                """
                token: abc.def
                    as: system:serviceaccount:queue:manager
                    as-uid: "7"
                    as-groups: [first, the second]
                    as-user-extra: {example.org/Team A: [physics]}
                """));

    assertThat(workerCredentials.impersonation().orElseThrow().headers())
        .containsExactly(
            new Impersonation.Header("Impersonate-User", "system:serviceaccount:queue:manager"),
            new Impersonation.Header("Impersonate-Uid", "7"),
            new Impersonation.Header("Impersonate-Group", "first"),
            new Impersonation.Header("Impersonate-Group", "the second"),
            new Impersonation.Header("Impersonate-Extra-example.org%2FTeam%20A", "physics"));
  }

  @Test
  void falseAndNothingAreAllowed() {
    String kubeconfig =
        GOOD.replace(
            "server: https://10.0.0.1:6443\n",
            """
            server: https://10.0.0.1:6443
                insecure-skip-tls-verify: false
                certificate-authority: ""
                proxy-url:
                tls-server-name: ""
            """);

    assertThat(KubeconfigValidator.read(kubeconfig)).isInstanceOf(WorkerAccess.Usable.class);
  }

  @Test
  void jsonIsYamlToo() {
    String json =
        """
        {"current-context": "c",
         "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
         "clusters": [{"name": "k", "cluster": {"server": "https://[::1]:6443"}}],
         "users": [{"name": "u", "user": {}}]}
        """;

    assertThat(KubeconfigValidator.read(json)).isInstanceOf(WorkerAccess.Usable.class);
  }

  @Test
  void credentialsTellNoSecret() {
    WorkerCredentials workerCredentials =
        ((WorkerAccess.Usable) KubeconfigValidator.read(GOOD)).workerCredentials();

    assertThat(workerCredentials).hasToString("Credentials[server=https://10.0.0.1:6443]");
    assertThat(new WorkerAccess.Usable(workerCredentials).toString()).doesNotContain("abc.def");
    assertThat(workerCredentials.redact("header \"Bearer abc.def\" is wrong"))
        .isEqualTo("header \"Bearer (secret)\" is wrong");
  }
}
