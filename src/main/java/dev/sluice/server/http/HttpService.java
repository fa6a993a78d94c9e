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
}
