package dev.sluice.testing;

import dev.sluice.install.InstallManifests;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The metrics that an operator on this machine serves, read as Prometheus reads them.
 *
 * @param client of the operator's cluster, with all rights
 * @param port where the operator serves metrics on this machine
 */
public record MetricsEndpoint(KubernetesClient client, int port) {

  private static final String SCRAPER = "scraper";

  /** A token of a service account that may read metrics; the account is made if need be. */
  public String token() {
    client
        .load(
            new ByteArrayInputStream(
                """
                apiVersion: v1
                kind: ServiceAccount
                metadata: {name: scraper, namespace: kueue-system}
                ---
                apiVersion: rbac.authorization.k8s.io/v1
                kind: ClusterRoleBinding
                metadata: {name: scraper}
                roleRef:
                  apiGroup: rbac.authorization.k8s.io
                  kind: ClusterRole
                  name: kueue-metrics-reader
                subjects:
                - {kind: ServiceAccount, name: scraper, namespace: kueue-system}
                """
                    .getBytes(StandardCharsets.UTF_8)))
        .fieldManager("test")
        .forceConflicts()
        .serverSideApply();
    return client
        .serviceAccounts()
        .inNamespace(InstallManifests.NAMESPACE)
        .withName(SCRAPER)
        .tokenRequest(new TokenRequestBuilder().withNewSpec().endSpec().build())
        .getStatus()
        .getToken();
  }

  /** The answer to a client with this token that trusts what the ServiceMonitor trusts. */
  public HttpResponse<String> get(String token)
      throws IOException, InterruptedException, GeneralSecurityException {
    try (HttpClient http = HttpClient.newBuilder().sslContext(trust()).build()) {
      return http.send(
          HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + "/metrics"))
              .header("Authorization", "Bearer " + token)
              .build(),
          BodyHandlers.ofString());
    }
  }

  private SSLContext trust() throws IOException, GeneralSecurityException {
    String authority =
        client
            .secrets()
            .inNamespace(InstallManifests.NAMESPACE)
            .withName("kueue-webhook-server-cert")
            .require()
            .getData()
            .getOrDefault("ca.crt", "");
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    store.setCertificateEntry(
        "authority",
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(Base64.getDecoder().decode(authority))));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
