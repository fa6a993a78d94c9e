package dev.sluice.checks.multikueue.access;

import java.net.URI;
import java.util.Optional;

/**
 * Address and login of a worker cluster. Two credentials are equal if they lead to the same
 * connection.
 *
 * @param endpoint where the worker cluster is
 * @param token a bearer token
 * @param certificate base64 of a client certificate in PEM
 * @param key base64 of its private key in PEM
 * @param plugin a program that returns a token or a certificate
 * @param impersonation whom requests are to be from
 */
public record WorkerCredentials(
    WorkerEndpoint endpoint,
    Optional<String> token,
    Optional<String> certificate,
    Optional<String> key,
    Optional<ExecPlugin> plugin,
    Optional<Impersonation> impersonation) {

  /** Creates credentials that need neither a login program nor another user. */
  public WorkerCredentials(
      WorkerEndpoint endpoint,
      Optional<String> token,
      Optional<String> certificate,
      Optional<String> key) {
    this(endpoint, token, certificate, key, Optional.empty(), Optional.empty());
  }

  /** URL of the API server, always https. */
  public URI server() {
    return endpoint.server();
  }

  /** Removes all secrets from the text, such as an error message of the connection. */
  public String redact(String text) {
    String redacted = hide(hide(text, token), key);
    Optional<URI> proxy = endpoint.proxy();
    redacted = hide(redacted, proxy.map(URI::getRawUserInfo));
    return hide(redacted, proxy.map(URI::getUserInfo));
  }

  private static String hide(String text, Optional<String> secret) {
    return secret.filter(it -> !it.isEmpty()).map(it -> text.replace(it, "(secret)")).orElse(text);
  }

  /** The address only; the rest is secret. */
  @Override
  public String toString() {
    return "Credentials[server=" + server() + "]";
  }
}
