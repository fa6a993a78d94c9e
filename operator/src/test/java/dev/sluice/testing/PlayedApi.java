package dev.sluice.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * An HTTP server that plays an API server whose requests come in no fixed order: each is answered
 * as the test says for its kind. Watches stay open and silent until it is closed.
 */
public final class PlayedApi implements AutoCloseable {

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final List<Asked> asked = new CopyOnWriteArrayList<>();
  private volatile Script script = request -> new Answer(404, "{}");

  /** What was asked; no watches. */
  public record Asked(String method, String path, String body) {}

  /** How it is answered. */
  public record Answer(int code, String body) {}

  /** Says how requests are answered. */
  @FunctionalInterface
  public interface Script {
    /** The answer to this one. */
    Answer answer(Asked request);
  }

  /** Starts one that has nothing. */
  public PlayedApi() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  /** Where it is. */
  public URI address() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** A client of it that doesn't repeat what fails. */
  public KubernetesClient client() {
    return new KubernetesClientBuilder()
        .withConfig(
            new ConfigBuilder()
                .withMasterUrl(address().toString())
                .withRequestRetryBackoffLimit(0)
                .withAutoConfigure(false)
                .build())
        .build();
  }

  /** From now on it answers so. */
  public void play(Script next) {
    script = next;
  }

  /** All requests so far of this method whose path, without a query, ends so. */
  public List<Asked> asked(String method, String end) {
    return asked.stream()
        .filter(it -> it.method().equals(method) && it.path().endsWith(end))
        .toList();
  }

  private void handle(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    if (exchange.getRequestHeaders().containsKey("Upgrade")) {
      // no web sockets: who watches comes again without
      exchange.sendResponseHeaders(200, -1);
    } else if (String.valueOf(exchange.getRequestURI().getQuery()).contains("watch=true")) {
      exchange.sendResponseHeaders(200, 0);
      exchange.getResponseBody().flush();
      try {
        closed.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    } else {
      Asked request =
          new Asked(exchange.getRequestMethod(), exchange.getRequestURI().getPath(), body);
      Answer answer = script.answer(request);
      byte[] bytes = answer.body().getBytes(StandardCharsets.UTF_8);
      asked.add(request);
      exchange.sendResponseHeaders(answer.code(), bytes.length);
      exchange.getResponseBody().write(bytes);
    }
    exchange.close();
  }

  @Override
  public void close() {
    closed.countDown();
    server.stop(0);
    threads.close();
  }
}
