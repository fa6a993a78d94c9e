package dev.sluice.server;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import dev.sluice.api.config.BindAddress;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/**
 * A running HTTP/1.1 server that serves each request on a virtual thread of its own. It listens
 * once created and stops when closed. {@link HttpLimits} and {@link PlatformLimits} bound the
 * resources that its clients use.
 */
public final class HttpService implements AutoCloseable {

  private static final int BACKLOG = 1024;

  private final HttpServer server;
  private final ExecutorService threads;
  private final Duration grace;
  private final HttpExchangeHandler httpExchangeHandler;

  private HttpService(
      HttpServer server, HttpHandler httpHandler, HttpLimits limits, Duration grace) {
    this.server = server;
    this.grace = grace;
    this.httpExchangeHandler = new HttpExchangeHandler(httpHandler, limits);
    this.threads = Executors.newVirtualThreadPerTaskExecutor();
    server.setExecutor(threads);
    server.createContext("/", httpExchangeHandler::serve);
    server.start();
  }

  /**
   * Starts a server without TLS, with the limits of this process.
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
    HttpServer server = bound(address, () -> HttpServer.create(socketAddress(address), BACKLOG));
    return new HttpService(server, httpHandler, limits, grace);
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
    HttpsServer server = bound(address, () -> HttpsServer.create(socketAddress(address), BACKLOG));
    server.setHttpsConfigurator(
        new HttpsConfigurator(context) {
          @Override
          public void configure(HttpsParameters parameters) {
            parameters.setSSLParameters(checked);
          }
        });
    return new HttpService(server, httpHandler, HttpLimits.ofThisProcess(), grace);
  }

  /** The port of the server, also if the system chose it. */
  public int port() {
    return server.getAddress().getPort();
  }

  /**
   * Accepts no more requests, waits at most the grace period for requests in progress, then closes
   * their connections.
   */
  @Override
  public void close() {
    server.stop((int) Math.max(0, grace.toSeconds()));
    threads.shutdownNow();
    httpExchangeHandler.close();
  }

  private static InetSocketAddress socketAddress(BindAddress address) {
    return address.host().isEmpty()
        ? new InetSocketAddress(address.port())
        : new InetSocketAddress(address.host(), address.port());
  }

  /** Creates a server. */
  @FunctionalInterface
  private interface Creation<S> {
    S create() throws IOException;
  }

  private static String reason(IOException failure) {
    String message = String.valueOf(failure.getMessage());
    return failure instanceof BindException && message.contains("in use")
        ? "the port is taken; does another operator run on this machine?"
        : message;
  }

  private static <S> S bound(BindAddress address, Creation<S> creation) throws IOException {
    try {
      return creation.create();
    } catch (IOException e) {
      String host = address.host().isEmpty() ? "all addresses" : address.host();
      throw new IOException(
          "can't listen on port %d of %s: %s".formatted(address.port(), host, reason(e)), e);
    }
  }
}
