package dev.sluice.server;

import java.net.InetSocketAddress;

/**
 * Where a server listens.
 *
 * @param host name or address; empty means every address of the machine
 * @param port 0 lets the system choose
 */
public record BindAddress(String host, int port) {

  /** Checks the port. */
  public BindAddress {
    if (port < 0 || port > 65535) {
      throw new IllegalArgumentException("port " + port + " is not within 0 to 65535");
    }
  }

  /**
   * Reads {@code :8081}, {@code 127.0.0.1:8081}, {@code [::1]:8081} or a bare port.
   *
   * @throws IllegalArgumentException naming the text when it is none of these
   */
  public static BindAddress parse(String text) {
    int colon = text.lastIndexOf(':');
    String host = colon < 0 ? "" : text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    try {
      return new BindAddress(host, Integer.parseInt(text.substring(colon + 1)));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "address \"" + text + "\" is not of the form host:port or :port", e);
    }
  }

  InetSocketAddress socketAddress() {
    return host.isEmpty() ? new InetSocketAddress(port) : new InetSocketAddress(host, port);
  }
}
