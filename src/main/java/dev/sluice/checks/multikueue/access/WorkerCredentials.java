package dev.sluice.checks.multikueue.access;

import java.net.URI;
import java.util.Optional;

/**
 * Address and login of a worker cluster. Two credentials are equal if they lead to the same
 * connection.
 *
 * @param server URL of the API server, always https
 * @param authority base64 of the certificate authorities of the server, in PEM; empty: the
 *     authorities that the process trusts
 * @param token a bearer token
 * @param certificate base64 of a client certificate in PEM
 * @param key base64 of its private key in PEM
 * @param plugin a program that returns a token or a certificate
 */
public record WorkerCredentials(
    URI server,
    Optional<String> authority,
    Optional<String> token,
    Optional<String> certificate,
    Optional<String> key,
    Optional<ExecPlugin> plugin) {

  /** Creates credentials without a login program. */
  public WorkerCredentials(
      URI server,
      Optional<String> authority,
      Optional<String> token,
      Optional<String> certificate,
      Optional<String> key) {
    this(server, authority, token, certificate, key, Optional.empty());
  }

  /** Removes all secrets from the text, such as an error message of the connection. */
  public String redact(String text) {
    return hide(hide(text, token), key);
  }

  private static String hide(String text, Optional<String> secret) {
    return secret.map(it -> text.replace(it, "(secret)")).orElse(text);
  }

  /** The address only; the rest is secret. */
  @Override
  public String toString() {
    return "Credentials[server=" + server + "]";
  }
}
