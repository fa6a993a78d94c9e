package dev.sluice.server.http;

import java.util.Map;

/**
 * Limits that the JDK's HTTP server enforces before this package sees a request. The server reads
 * them once from system properties; properties that are set already are kept.
 */
final class PlatformLimits {

  /** Memory of an open TLS connection in bytes, mostly buffers. */
  private static final long BYTES_PER_CONNECTION = 128L * 1024;

  private static final long MIN_CONNECTIONS = 256;
  private static final long MAX_CONNECTIONS = 2048;

  /** Connections that the front has closed, and the server has not yet. */
  private static final int CLOSING = 2;

  private PlatformLimits() {}

  /** Sets the properties that are not set. */
  static void apply() {
    of(Runtime.getRuntime().maxMemory())
        .forEach(
            (name, value) -> {
              if (System.getProperty(name) == null) {
                System.setProperty(name, value);
              }
            });
  }

  /** How many connections one port may have with a heap of this many bytes. */
  static int connections(long heap) {
    return (int) Math.clamp(heap / 4 / BYTES_PER_CONNECTION, MIN_CONNECTIONS, MAX_CONNECTIONS);
  }

  /**
   * The properties for a heap of this many bytes.
   *
   * <p>Open connections take at most a quarter of the heap; {@link ConnectionFront} keeps their
   * number, and the server would close new ones instead of idle ones. Idle connections must outlast
   * the idle connections of the API server's client, and as many are kept as there may be: a server
   * that closes them drops requests under load. Headers are read before the request is known, so
   * their size limit is small. The time limits end stalled handshakes and headers; bodies have a
   * shorter limit, see {@link HttpLimits}.
   */
  static Map<String, String> of(long heap) {
    int connections = connections(heap);
    return Map.of(
        "jdk.httpserver.maxConnections", String.valueOf(CLOSING * connections),
        "sun.net.httpserver.maxIdleConnections", String.valueOf(connections),
        "sun.net.httpserver.maxReqHeaderSize", String.valueOf(32 * 1024),
        "sun.net.httpserver.maxReqHeaders", "100",
        "sun.net.httpserver.nodelay", "true",
        "sun.net.httpserver.idleInterval", "150",
        "sun.net.httpserver.maxReqTime", "30",
        "sun.net.httpserver.maxRspTime", "60");
  }
}
