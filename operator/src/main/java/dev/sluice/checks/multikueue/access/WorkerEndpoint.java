package dev.sluice.checks.multikueue.access;

import java.net.URI;
import java.util.Optional;

/**
 * Where the API server of a worker cluster is, and how its certificate is verified.
 *
 * @param server URL of the API server, always https
 * @param authority base64 of the certificate authorities of the server, in PEM; empty: the
 *     authorities that the process trusts
 * @param serverName the name that is asked for when the connection is encrypted, and that the
 *     certificate must have; empty: the host of the URL
 * @param proxy URL of the proxy that connections go through, http or socks5; may hold a password
 */
public record WorkerEndpoint(
    URI server, Optional<String> authority, Optional<String> serverName, Optional<URI> proxy) {

  /** Creates an endpoint that is reached directly and whose certificate names its host. */
  public WorkerEndpoint(URI server, Optional<String> authority) {
    this(server, authority, Optional.empty(), Optional.empty());
  }

  /** The address only; the proxy's may hold a secret. */
  @Override
  public String toString() {
    return "WorkerEndpoint[server=" + server + "]";
  }
}
