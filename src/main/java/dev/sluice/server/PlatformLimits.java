package dev.sluice.server;

import java.util.Map;

/**
 * Limits that the platform's HTTP server enforces itself, before this package sees a request. It
 * reads them once, from system properties; those that are set already stay.
 */
final class PlatformLimits {

  /** What an open connection takes with TLS, buffers above all. */
  private static final long CONNECTION = 128L * 1024;

  private static final long FEWEST = 256;
  private static final long MOST = 2048;

  private PlatformLimits() {}

  /** Sets what isn't set. */
  static void apply() {
    of(Runtime.getRuntime().maxMemory())
        .forEach(
            (name, value) -> {
              if (System.getProperty(name) == null) {
                System.setProperty(name, value);
              }
            });
  }

  /**
   * The properties for a process that has this many bytes of heap.
   *
   * <p>Connections that are open take a quarter of it at most. Idle ones must outlast those of the
   * API server's client, and as many as there may be are kept: a server that closes them drops
   * requests under load. Headers are read before anything is known of a request, so that they must
   * be small. The times end handshakes and headers that don't go on; a body has a shorter one, see
   * {@link HttpLimits}.
   */
  static Map<String, String> of(long heap) {
    long connections = Math.clamp(heap / 4 / CONNECTION, FEWEST, MOST);
    return Map.of(
        "jdk.httpserver.maxConnections", String.valueOf(connections),
        "sun.net.httpserver.maxIdleConnections", String.valueOf(connections),
        "sun.net.httpserver.maxReqHeaderSize", String.valueOf(32 * 1024),
        "sun.net.httpserver.maxReqHeaders", "100",
        "sun.net.httpserver.nodelay", "true",
        "sun.net.httpserver.idleInterval", "150",
        "sun.net.httpserver.maxReqTime", "30",
        "sun.net.httpserver.maxRspTime", "60");
  }
}
