package dev.sluice.kube.client;

import dev.sluice.kube.certificates.TlsContexts;
import dev.sluice.kube.certificates.TlsContexts.ClientCertificate;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * Where an API server is and how a user logs in there: what a kubeconfig says in the simplest case.
 *
 * @param authority certificates (PEM) that sign that of the API server; empty: the default of Java
 * @param certificate the user's certificate
 * @param token the user's bearer token
 * @param namespace the namespace of the context
 */
public record ClusterAccess(
    URI server,
    Optional<String> authority,
    Optional<ClientCertificate> certificate,
    Optional<String> token,
    Optional<String> namespace) {

  /**
   * TLS towards the API server.
   *
   * @throws GeneralSecurityException when a certificate or a key can't be used
   */
  public SSLContext tls() throws GeneralSecurityException {
    return TlsContexts.client(authority, certificate);
  }

  @Override
  public String toString() {
    return "ClusterAccess[" + server + "]";
  }
}
