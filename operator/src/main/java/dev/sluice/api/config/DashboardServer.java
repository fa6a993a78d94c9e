package dev.sluice.api.config;

import java.util.List;
import java.util.Optional;

/**
 * Where the dashboard is served.
 *
 * @param enabled whether it is
 * @param bindAddress address to listen on; empty: all
 * @param bindPort port to listen on
 * @param proxy who may say on behalf of whom a request is made; empty: nobody
 */
public record DashboardServer(
    boolean enabled, String bindAddress, int bindPort, Optional<TrustedProxy> proxy) {

  /**
   * An authenticating proxy, which shows a certificate and names the user in headers.
   *
   * @param clientCaFile file with the authorities of its certificate (PEM)
   * @param names the common names that its certificate may have; empty: any
   * @param userHeader the header with the user's name
   * @param groupsHeader the header with his groups, repeated or separated by commas
   */
  public record TrustedProxy(
      String clientCaFile, List<String> names, String userHeader, String groupsHeader) {}
}
