package dev.sluice.api.config;

import dev.sluice.api.KubernetesNames;
import java.net.InetAddress;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An address to listen on.
 *
 * @param host name or IP address; empty: all
 * @param port port; 0: any that is free
 */
public record BindAddress(String host, int port) {

  private static final Pattern SHAPE =
      Pattern.compile("(?:\\[([0-9a-fA-F:.]*)]|([^:\\[\\]]*)):(\\d{1,5})");

  static final String RULE = "host:port or :port with a port from 0 to 65535, or \"0\" for none";

  /**
   * The address that {@code host:port}, {@code :port} or {@code [ipv6]:port} says, if it is one.
   */
  public static Optional<BindAddress> parse(String text) {
    Matcher shape = SHAPE.matcher(text);
    if (!shape.matches() || Integer.parseInt(shape.group(3)) > 65535) {
      return Optional.empty();
    }
    String host = shape.group(1) == null ? shape.group(2) : shape.group(1);
    return Optional.of(new BindAddress(host, Integer.parseInt(shape.group(3))));
  }

  /** Whether only processes of the same machine, or of the same pod, reach the address. */
  public boolean isLoopback() {
    return host.equals("localhost")
        || !host.isEmpty()
            && KubernetesNames.isIpAddress(host)
            && InetAddress.ofLiteral(host).isLoopbackAddress();
  }

  @Override
  public String toString() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}
