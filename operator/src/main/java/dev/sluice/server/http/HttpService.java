package dev.sluice.server.http;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import dev.sluice.api.config.BindAddress;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/**
 * A running HTTP/1.1 server that serves each request on a virtual thread of its own. It listens
 * once created and stops when closed. {@link ConnectionFront}, {@link HttpLimits} and {@link
 * PlatformLimits} bound the resources that its clients use.
 */
public final class HttpService implements AutoCloseable {

  private static final int BACKLOG = 1024;
  private static final Duration FIRST_BYTE = Duration.ofSeconds(10);
  private static final Duration IDLE = Duration.ofSeconds(150);
  private static final int RESERVE = 8;

  /** Probes come on connections of their own; each has platform threads. */
  private static final ConnectionFront.Limits PLAIN =
      new ConnectionFront.Limits(64, 32, Duration.ofSeconds(5), Duration.ofSeconds(10));

  private final ConnectionFront front;
  private final HttpServer server;
  private final ExecutorService threads;
  private final Duration grace;
  private final HttpExchangeHandler httpExchangeHandler;

  private HttpService(
      ConnectionFront front,
      HttpServer server,
      ThreadFactory factory,
      HttpHandler httpHandler,
      HttpLimits limits,
      Duration grace) {
    this.front = front;
    this.server = server;
    this.grace = grace;
    this.httpExchangeHandler = new HttpExchangeHandler(httpHandler, limits, front::source);
    this.threads = Executors.newThreadPerTaskExecutor(factory);
    server.setExecutor(threads);
    server.createContext("/", httpExchangeHandler::serve);
    server.start();
    front.start(server.getAddress());
  }

  /**
   * Starts a server without TLS, with the limits of this process, for few and short requests. It
   * runs on platform threads, so that it answers also while virtual threads are busy.
   *
   * @param grace how long closing waits for requests in progress
   * @throws IOException when the address cannot be bound
   */
  public static HttpService plain(BindAddress address, HttpHandler httpHandler, Duration grace)
      throws IOException {
    return plain(address, httpHandler, HttpLimits.ofThisProcess(), grace);
  }

  /** Starts a server without TLS, with the given limits. */
  static HttpService plain(
      BindAddress address, HttpHandler httpHandler, HttpLimits limits, Duration grace)
      throws IOException {
    PlatformLimits.apply();
    ThreadFactory factory = Thread.ofPlatform().daemon().name("plain-", 0).factory();
    ConnectionFront front = front(address, PLAIN, factory);
    HttpServer server = HttpServer.create(behind(), BACKLOG);
    return new HttpService(front, server, factory, httpHandler, limits, grace);
  }

  /**
   * Starts a server with TLS, with the limits of this process.
   *
   * @param context contains the key manager, whose key may change while the server runs
   * @param grace how long closing waits for requests in progress
   * @throws IOException when the address cannot be bound
   * @throws IllegalArgumentException when the platform does not support a setting
   */
  public static HttpService tls(
      BindAddress address,
      SSLContext context,
      TlsSettings settings,
      HttpHandler httpHandler,
      Duration grace)
      throws IOException {
    PlatformLimits.apply();
    SSLParameters checked = settings.parameters(context);
    checked.setWantClientAuth(httpHandler.asksForCertificates());
    ThreadFactory factory = Thread.ofVirtual().name("https-", 0).factory();
    ConnectionFront front = front(address, encrypted(), factory);
    HttpsServer server = HttpsServer.create(behind(), BACKLOG);
    server.setHttpsConfigurator(
        new HttpsConfigurator(context) {
          @Override
          public void configure(HttpsParameters parameters) {
            parameters.setSSLParameters(checked);
          }
        });
    return new HttpService(front, server, factory, httpHandler, HttpLimits.ofThisProcess(), grace);
  }

  /** The port of the server, also if the system chose it. */
  public int port() {
    return front.port();
  }

  /**
   * Accepts no more requests, waits at most the grace period for requests in progress, then closes
   * their connections.
   */
  @Override
  public void close() {
    front.stopAccepting();
    server.stop((int) Math.max(0, grace.toSeconds()));
    front.close();
    threads.shutdownNow();
    httpExchangeHandler.close();
  }

  /** An eighth of the connections is left for others than one source. */
  private static ConnectionFront.Limits encrypted() {
    int connections = PlatformLimits.connections(Runtime.getRuntime().maxMemory());
    return new ConnectionFront.Limits(
        connections, connections - connections / RESERVE, FIRST_BYTE, IDLE);
  }

  /** Where a server listens that is reached through a front. */
  private static InetSocketAddress behind() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  private static InetSocketAddress socketAddress(BindAddress address) {
    return address.host().isEmpty()
        ? new InetSocketAddress(address.port())
        : new InetSocketAddress(address.host(), address.port());
  }

  private static String reason(IOException failure) {
    String message = String.valueOf(failure.getMessage());
    return failure instanceof BindException && message.contains("in use")
        ? "the port is taken; does another operator run on this machine?"
        : message;
  }

  private static ConnectionFront front(
      BindAddress address, ConnectionFront.Limits limits, ThreadFactory factory)
      throws IOException {
    try {
      return new ConnectionFront(socketAddress(address), limits, factory);
    } catch (IOException e) {
      String host = address.host().isEmpty() ? "all addresses" : address.host();
      throw new IOException(
          "can't listen on port %d of %s: %s".formatted(address.port(), host, reason(e)), e);
    }
  }

  /**
   * Limits that the JDK's HTTP server enforces before this package sees a request. The server reads
   * them once from system properties; properties that are set already are kept.
   */
  static final class PlatformLimits {

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
     * number, and the server would close new ones instead of idle ones. Idle connections must
     * outlast the idle connections of the API server's client, and as many are kept as there may
     * be: a server that closes them drops requests under load. Headers are read before the request
     * is known, so their size limit is small. The time limits end stalled handshakes and headers;
     * bodies have a shorter limit, see {@link HttpLimits}.
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
}
