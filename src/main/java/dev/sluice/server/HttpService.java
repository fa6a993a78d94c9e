package dev.sluice.server;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import dev.sluice.api.config.BindAddress;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running HTTP/1.1 server, each request on a virtual thread of its own. It listens as soon as it
 * is made and stops when closed.
 */
public final class HttpService implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(HttpService.class);

  /** An API server's largest object is 3 MiB, and a review carries two. */
  private static final int MAX_BODY = 16 * 1024 * 1024;

  private static final int BACKLOG = 1024;

  /**
   * The platform's server reads these once. Its limit of 200 idle connections makes a cold server
   * drop requests under load, and its idle time must outlast that of the API server's client.
   */
  private static final Map<String, String> PLATFORM =
      Map.of(
          "sun.net.httpserver.maxIdleConnections", "5000",
          "sun.net.httpserver.nodelay", "true",
          "sun.net.httpserver.idleInterval", "150",
          "sun.net.httpserver.maxReqTime", "60");

  private final HttpServer server;
  private final ExecutorService threads;
  private final Duration grace;

  private HttpService(HttpServer server, Endpoint endpoint, Duration grace) {
    this.server = server;
    this.grace = grace;
    this.threads = Executors.newVirtualThreadPerTaskExecutor();
    server.setExecutor(threads);
    server.createContext("/", exchange -> serve(exchange, endpoint));
    server.start();
  }

  /**
   * Starts a server without TLS.
   *
   * @param grace how long closing waits for requests that are being answered
   * @throws IOException when the address can't be bound
   */
  public static HttpService plain(BindAddress address, Endpoint endpoint, Duration grace)
      throws IOException {
    preparePlatform();
    return new HttpService(
        bound(address, () -> HttpServer.create(socketAddress(address), BACKLOG)), endpoint, grace);
  }

  /**
   * Starts a server with TLS.
   *
   * @param context holds the key manager, whose key may change while the server runs
   * @param grace how long closing waits for requests that are being answered
   * @throws IOException when the address can't be bound
   * @throws IllegalArgumentException when the settings name something that the platform lacks
   */
  public static HttpService tls(
      BindAddress address,
      SSLContext context,
      TlsSettings settings,
      Endpoint endpoint,
      Duration grace)
      throws IOException {
    preparePlatform();
    SSLParameters checked = settings.parameters(context);
    HttpsServer server = bound(address, () -> HttpsServer.create(socketAddress(address), BACKLOG));
    server.setHttpsConfigurator(
        new HttpsConfigurator(context) {
          @Override
          public void configure(HttpsParameters parameters) {
            parameters.setSSLParameters(checked);
          }
        });
    return new HttpService(server, endpoint, grace);
  }

  /** The port that is listened on, also when the system chose it. */
  public int port() {
    return server.getAddress().getPort();
  }

  /** Takes no more requests, waits at most the grace for those in work, then cuts them off. */
  @Override
  public void close() {
    server.stop((int) Math.max(0, grace.toSeconds()));
    threads.shutdownNow();
  }

  private static InetSocketAddress socketAddress(BindAddress address) {
    return address.host().isEmpty()
        ? new InetSocketAddress(address.port())
        : new InetSocketAddress(address.host(), address.port());
  }

  private static void preparePlatform() {
    PLATFORM.forEach(
        (name, value) -> {
          if (System.getProperty(name) == null) {
            System.setProperty(name, value);
          }
        });
  }

  /** Creates a server. */
  @FunctionalInterface
  private interface Creation<S> {
    S create() throws IOException;
  }

  private static <S> S bound(BindAddress address, Creation<S> creation) throws IOException {
    try {
      return creation.create();
    } catch (IOException e) {
      String host = address.host().isEmpty() ? "all addresses" : address.host();
      throw new IOException(
          "can't listen on port %d of %s: %s".formatted(address.port(), host, e.getMessage()), e);
    }
  }

  private static void serve(HttpExchange exchange, Endpoint endpoint) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY + 1);
      Response response =
          body.length > MAX_BODY
              ? Response.text(413, "body is larger than " + MAX_BODY + " bytes")
              : answer(request(exchange, body), endpoint);
      send(exchange, response);
    }
  }

  private static Response answer(Request request, Endpoint endpoint) {
    try {
      return endpoint.answer(request);
    } catch (RuntimeException | StackOverflowError e) {
      log.error("request method={} path={} reason=bug", request.method(), request.path(), e);
      return Response.text(500, "internal error");
    }
  }

  private static Request request(HttpExchange exchange, byte[] body) {
    Map<String, String> headers = new HashMap<>();
    Headers sent = exchange.getRequestHeaders();
    sent.forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.getFirst()));
    String query = exchange.getRequestURI().getRawQuery();
    String path = exchange.getRequestURI().getPath();
    return new Request(
        exchange.getRequestMethod(),
        path == null ? "" : path,
        query == null ? "" : query,
        headers,
        body);
  }

  private static void send(HttpExchange exchange, Response response) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", response.contentType());
    boolean bodiless = exchange.getRequestMethod().equals("HEAD") || response.body().length == 0;
    exchange.sendResponseHeaders(response.status(), bodiless ? -1 : response.body().length);
    if (!bodiless) {
      exchange.getResponseBody().write(response.body());
    }
  }
}
