package dev.sluice.workload;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/** An HTTP server that plays an API server: each request is answered by the next step told. */
public final class ScriptedServer implements AutoCloseable {

  private final HttpServer server;
  private final KubernetesClient client;
  private final BlockingQueue<Step> steps = new LinkedBlockingQueue<>();
  private final List<Asked> asked = new CopyOnWriteArrayList<>();

  /** What was asked. */
  public record Asked(String method, String uri, String body) {}

  /** How one request is answered. */
  public interface Step {
    /** Answers it. */
    void answer(HttpExchange exchange) throws IOException, InterruptedException;
  }

  /** Starts one. */
  public ScriptedServer() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::handle);
    server.start();
    client =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder()
                    .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                    .withRequestRetryBackoffLimit(0)
                    .withAutoConfigure(false)
                    .build())
            .build();
  }

  /** A client of it; it is closed with this. */
  public KubernetesClient client() {
    return client;
  }

  /** All requests so far. */
  public List<Asked> asked() {
    return asked;
  }

  /** The next request not told of yet is answered so. */
  public ScriptedServer then(Step step) {
    steps.add(step);
    return this;
  }

  /** The next request is answered with a whole body. */
  public ScriptedServer then(int code, String body) {
    return then(exchange -> reply(exchange, code, body));
  }

  /** Answers with a whole body. */
  public static void reply(HttpExchange exchange, int code, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(code, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  /** The next request is answered with nothing: the connection breaks. */
  public ScriptedServer thenBreak() {
    return then(HttpExchange::close);
  }

  /** A watch that is written to from the test. */
  public static final class Watch implements Step {

    private final BlockingQueue<String> pieces = new LinkedBlockingQueue<>();
    private static final String END = "\u0000";

    /** Writes a piece. */
    public Watch send(String piece) {
      pieces.add(piece);
      return this;
    }

    /** The server ends it, as after its timeout. */
    public Watch end() {
      return send(END);
    }

    @Override
    public void answer(HttpExchange exchange) throws IOException, InterruptedException {
      exchange.sendResponseHeaders(200, 0);
      try (OutputStream body = exchange.getResponseBody()) {
        body.flush();
        for (String piece = pieces.take(); !piece.equals(END); piece = pieces.take()) {
          body.write(piece.getBytes(StandardCharsets.UTF_8));
          body.flush();
        }
      }
    }
  }

  private void handle(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    asked.add(new Asked(exchange.getRequestMethod(), exchange.getRequestURI().toString(), body));
    try {
      steps.take().answer(exchange);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    client.close();
    server.stop(0);
  }
}
