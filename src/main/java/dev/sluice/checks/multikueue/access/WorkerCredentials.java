package dev.sluice.checks.multikueue.access;

import java.net.URI;
import java.util.Optional;

/**
 * How to reach a worker cluster, and as whom. Two are equal if they lead to the same connection.
 *
 * @param server the API server, always https
 * @param authority base64 of the certificates, in PEM, that the server's must come from; empty:
 *     those that the process trusts
 * @param token a bearer token
 * @param certificate base64 of a client certificate in PEM
 * @param key base64 of its private key in PEM
 * @param plugin a program that gives token or certificate
 */
public record WorkerCredentials(
    URI server,
    Optional<String> authority,
    Optional<String> token,
    Optional<String> certificate,
    Optional<String> key,
    Optional<ExecPlugin> plugin) {

  /** Without a program. */
  public WorkerCredentials(
      URI server,
      Optional<String> authority,
      Optional<String> token,
      Optional<String> certificate,
      Optional<String> key) {
    this(server, authority, token, certificate, key, Optional.empty());
  }

  /** The text without any secret in it: what others say of a connection may quote one. */
  public String redact(String text) {
    return hide(hide(text, token), key);
  }

  private static String hide(String text, Optional<String> secret) {
    return secret.map(it -> text.replace(it, "(secret)")).orElse(text);
  }

  /** Says where, and nothing that is secret. */
  @Override
  public String toString() {
    return "Credentials[server=" + server + "]";
  }
}
