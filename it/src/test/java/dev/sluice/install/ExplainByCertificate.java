package dev.sluice.install;

import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.kube.certificates.TlsContexts;
import dev.sluice.kube.certificates.TlsContexts.ClientCertificate;
import dev.sluice.testing.TestCluster;
import dev.sluice.visibility.explain.ExplainCommand;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;

/**
 * Calls {@code explain --operator} as a user whom only a certificate identifies.
 *
 * @param port where the operator explains on this machine
 * @param directory for files of a call
 */
record ExplainByCertificate(TestCluster cluster, int port, Path directory) {

  private static final Duration DAY = Duration.ofDays(1);

  /** The authority that signs the certificates of the cluster's clients. */
  CertificateWithKey authority() throws IOException, GeneralSecurityException {
    Path keys = cluster.kubeconfig().resolveSibling("pki");
    return CertificateWithKey.parse(
        Files.readString(keys.resolve("ca.crt")), Files.readString(keys.resolve("ca.key")));
  }

  /** A certificate of this user that was made at some time, for a day. */
  static CertificateWithKey user(CertificateWithKey authority, String name, Instant made)
      throws GeneralSecurityException {
    CertificateAuthority maker =
        new CertificateAuthority(InstantSource.fixed(made), new SecureRandom());
    return maker.client(authority, maker.ellipticKeys(), name, List.of("people"), DAY);
  }

  /** What the command prints for a user whose kubeconfig holds this certificate. */
  String printed(String workload, CertificateWithKey user)
      throws IOException, GeneralSecurityException {
    Path chain = Files.writeString(directory.resolve("user.crt"), user.certificatePem());
    Path key = Files.writeString(directory.resolve("user.key"), user.keyPem());
    KubernetesClient client = cluster.client();
    String trusted =
        client
            .secrets()
            .inNamespace(InstallManifests.NAMESPACE)
            .withName("kueue-webhook-server-cert")
            .require()
            .getData()
            .getOrDefault("ca.crt", "");
    Path authority =
        Files.write(directory.resolve("operator-ca.crt"), Base64.getDecoder().decode(trusted));
    Path kubeconfig =
        Files.writeString(
            directory.resolve("user.kubeconfig"),
            """
            apiVersion: v1
            kind: Config
            current-context: c
            clusters: [{name: c, cluster: {server: '%s', certificate-authority: '%s'}}]
            users: [{name: u, user: {client-certificate: '%s', client-key: '%s'}}]
            contexts: [{name: c, context: {cluster: c, user: u}}]
            """
                .formatted(
                    client.getMasterUrl().toString().replaceAll("/$", ""),
                    cluster.kubeconfig().resolveSibling("pki").resolve("ca.crt"),
                    chain,
                    key),
            StandardCharsets.UTF_8);
    StringWriter out = new StringWriter();
    PrintWriter printer = new PrintWriter(out, true);
    new CommandLine(new ExplainCommand())
        .setOut(printer)
        .setErr(printer)
        .execute(
            "workload",
            workload,
            "-n",
            cluster.namespace(),
            "--kubeconfig",
            kubeconfig.toString(),
            "--operator",
            "https://127.0.0.1:" + port,
            "--operator-ca",
            authority.toString());
    return out.toString();
  }

  /** The status of the answer to a client with these certificates, at most one. */
  int status(String workload, CertificateWithKey... user)
      throws IOException, InterruptedException, GeneralSecurityException {
    String trusted = Files.readString(directory.resolve("operator-ca.crt"));
    Optional<ClientCertificate> shown =
        user.length == 0
            ? Optional.empty()
            : Optional.of(new ClientCertificate(user[0].certificatePem(), user[0].keyPem()));
    try (HttpClient client =
        HttpClient.newBuilder()
            .sslContext(TlsContexts.client(Optional.of(trusted), shown))
            .build()) {
      return client
          .send(
              HttpRequest.newBuilder(
                      URI.create(
                          "https://127.0.0.1:%d/explain/v1/namespaces/%s/workloads/%s"
                              .formatted(port, cluster.namespace(), workload)))
                  .build(),
              HttpResponse.BodyHandlers.ofString())
          .statusCode();
    }
  }
}
