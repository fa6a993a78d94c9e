package dev.sluice.bench;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** Worker clusters behind one HTTPS server, each under a path of its own. */
final class SimulatedWorkers implements AutoCloseable {

  private static final String PASSWORD = "changeit";
  private static final long BOOKMARKS_MILLIS = 60_000;
  private static final List<String> SERVED = List.of("workloads", "jobs", "leases");

  private final HttpsServer server;
  private final String certificate;
  private final List<SimulatedWorker> workers;
  private final Duration runFor;
  private final Map<String, LongAdder> requests = new ConcurrentHashMap<>();
  private final Map<String, Long> started = new ConcurrentHashMap<>();
  private final ScheduledExecutorService later = Executors.newSingleThreadScheduledExecutor();

  /** Starts them; Jobs run for as long. */
  SimulatedWorkers(int count, Duration runFor) throws Exception {
    this.workers = IntStream.range(0, count).mapToObj(i -> new SimulatedWorker()).toList();
    this.runFor = runFor;
    KeyStore keys = keys();
    this.certificate =
        Base64.getEncoder()
            .encodeToString(
                ("-----BEGIN CERTIFICATE-----\n"
                        + Base64.getMimeEncoder()
                            .encodeToString(keys.getCertificate("w").getEncoded())
                        + "\n-----END CERTIFICATE-----\n")
                    .getBytes(StandardCharsets.UTF_8));
    this.server =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
    server.setHttpsConfigurator(new HttpsConfigurator(context(keys)));
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::handle);
    server.start();
  }

  private static KeyStore keys() throws Exception {
    Path file = Files.createTempDirectory("workers").resolve("keys");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "w",
                "-keyalg",
                "EC",
                "-dname",
                "CN=127.0.0.1",
                "-ext",
                "SAN=ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-validity",
                "30",
                "-keystore",
                file.toString(),
                "-storepass",
                PASSWORD)
            .inheritIO()
            .start();
    if (process.waitFor() != 0) {
      throw new IOException("keytool ended with " + process.exitValue());
    }
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return keys;
  }

  private static SSLContext context(KeyStore keys) throws GeneralSecurityException {
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context;
  }

  /** What leads to one of them. */
  String kubeconfig(int worker) {
    return """
    apiVersion: v1
    kind: Config
    current-context: w
    contexts: [{name: w, context: {cluster: w, user: w}}]
    clusters:
    - name: w
      cluster: {server: "https://127.0.0.1:%d/w/%d", certificate-authority-data: %s}
    users: [{name: w, user: {token: any}}]
    """
        .formatted(server.getAddress().getPort(), worker, certificate);
  }

  /** How often each was asked for since the start, by verb and resource. */
  Map<String, Long> requests() {
    Map<String, Long> result = new TreeMap<>();
    requests.forEach((what, count) -> result.put(what, count.sum()));
    return result;
  }

  /** When each Job arrived, in nanoseconds of {@link System#nanoTime}, by name. */
  Map<String, Long> started() {
    return Map.copyOf(started);
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String[] parts = exchange.getRequestURI().getPath().split("/");
      // /w/N/apis/GROUP/VERSION/[namespaces/NS/]RESOURCE[/NAME[/status]]
      SimulatedWorker worker = workers.get(Integer.parseInt(parts[2]));
      boolean namespaced = parts.length > 6 && parts[6].equals("namespaces");
      String namespace = namespaced ? parts[7] : "";
      List<String> rest = Arrays.asList(parts).subList(namespaced ? 8 : 6, parts.length);
      String resource = rest.getFirst();
      String query = Optional.ofNullable(exchange.getRequestURI().getQuery()).orElse("");
      boolean watch = query.contains("watch=true");
      String verb = watch ? "WATCH" : exchange.getRequestMethod();
      requests.computeIfAbsent(verb + " " + resource, any -> new LongAdder()).increment();
      if (!SERVED.contains(resource)) {
        answer(exchange, 404, Optional.empty());
      } else if (exchange.getRequestHeaders().containsKey("Upgrade")) {
        answer(exchange, 503, Optional.empty());
      } else if (watch) {
        stream(exchange, worker, resource, query);
      } else if (rest.size() == 1) {
        collection(exchange, worker, resource, namespace);
      } else {
        object(exchange, worker, resource, resource + "/" + namespace + "/" + rest.get(1));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void collection(
      HttpExchange exchange, SimulatedWorker worker, String resource, String namespace)
      throws IOException {
    if (exchange.getRequestMethod().equals("GET")) {
      answer(exchange, 200, Optional.of(worker.list(resource)));
      return;
    }
    long arrived = System.nanoTime();
    Optional<String> made =
        worker.create(resource, namespace, exchange.getRequestBody().readAllBytes());
    if (made.isPresent() && resource.equals("jobs")) {
      String name = made.get().replaceFirst("(?s).*?\"name\":\"([^\"]*)\".*", "$1");
      started.putIfAbsent(name, arrived);
      var unused =
          later.schedule(
              () -> worker.finish(namespace, name), runFor.toMillis(), TimeUnit.MILLISECONDS);
    }
    answer(exchange, made.isPresent() ? 201 : 409, made);
  }

  private static void object(
      HttpExchange exchange, SimulatedWorker worker, String resource, String key)
      throws IOException {
    Optional<String> found =
        switch (exchange.getRequestMethod()) {
          case "GET" -> worker.get(key);
          case "PATCH" -> worker.patch(resource, key, exchange.getRequestBody().readAllBytes());
          default -> worker.delete(resource, key);
        };
    answer(exchange, found.isPresent() ? 200 : 404, found);
  }

  private static void answer(HttpExchange exchange, int code, Optional<String> body)
      throws IOException {
    exchange.getRequestBody().readAllBytes();
    byte[] bytes =
        body.orElse(
                "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"no\",\"code\":"
                    + code
                    + "}")
            .getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(code, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private static void stream(
      HttpExchange exchange, SimulatedWorker worker, String resource, String query)
      throws IOException, InterruptedException {
    long since = number(query, "resourceVersion", worker.version());
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(number(query, "timeoutSeconds", 300));
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, 0);
    OutputStream out = exchange.getResponseBody();
    out.flush();
    while (System.nanoTime() < end) {
      List<SimulatedWorker.Change> news = worker.after(resource, since, BOOKMARKS_MILLIS);
      StringBuilder lines = new StringBuilder();
      for (SimulatedWorker.Change change : news) {
        lines.append(change.line());
        since = change.version();
      }
      if (news.isEmpty()) {
        lines
            .append("{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"")
            .append(since)
            .append("\"}}}\n");
      }
      out.write(lines.toString().getBytes(StandardCharsets.UTF_8));
      out.flush();
    }
  }

  private static long number(String query, String name, long otherwise) {
    for (String each : query.split("&")) {
      if (each.startsWith(name + "=")) {
        String value = URLDecoder.decode(each.substring(name.length() + 1), StandardCharsets.UTF_8);
        return value.isEmpty() ? otherwise : Long.parseLong(value);
      }
    }
    return otherwise;
  }

  @Override
  public void close() {
    later.shutdownNow();
    server.stop(0);
  }
}
