package dev.sluice.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;

/**
 * One page of a headless Chromium, driven by the DevTools protocol. Certificates of servers aren't
 * checked.
 */
final class Chromium implements AutoCloseable {

  private static final List<String> NAMES =
      List.of(
          "chromium",
          "chromium-browser",
          "google-chrome",
          "google-chrome-stable",
          "chrome",
          "chrome-headless-shell");

  /** Names the program, where it isn't on the PATH. */
  private static final String VARIABLE = "SLUICE_CHROMIUM";

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Process process;
  private final Path profile;
  private final HttpClient http = HttpClient.newHttpClient();
  private final WebSocket socket;
  private final AtomicInteger number = new AtomicInteger();
  private final Map<Integer, CompletableFuture<JsonNode>> asked = new ConcurrentHashMap<>();
  private final List<String> complaints = new ArrayList<>();

  /** The program on this machine, if it has one. */
  private static Optional<Path> program() {
    String named = System.getenv().getOrDefault(VARIABLE, "");
    Stream<Path> candidates =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
            .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)));
    return Stream.concat(named.isEmpty() ? Stream.empty() : Stream.of(Path.of(named)), candidates)
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** Starts one with an empty profile; where there is no program, the test is skipped, loudly. */
  static Chromium startOrSkip() throws IOException, InterruptedException {
    Optional<Path> program = program();
    if (program.isEmpty()) {
      System.err.println(missing());
    }
    Assumptions.assumeTrue(program.isPresent(), Chromium::missing);
    return start(program.get());
  }

  private static String missing() {
    return "SKIPPED: no Chromium on this machine, so the dashboard's pages are NOT tested: put one of "
        + NAMES
        + " on the PATH, or name it by the environment variable "
        + VARIABLE;
  }

  private Chromium(Process process, Path profile) throws IOException, InterruptedException {
    this.process = process;
    this.profile = profile;
    Path portFile = profile.resolve("DevToolsActivePort");
    Awaitility.await("Chromium")
        .atMost(LIMIT)
        .until(() -> Files.exists(portFile) && Files.size(portFile) > 5);
    String port = Files.readAllLines(portFile).getFirst();
    HttpRequest page =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/json/new?about:blank"))
            .PUT(HttpRequest.BodyPublishers.noBody())
            .build();
    JsonNode target = JSON.readTree(http.send(page, BodyHandlers.ofString()).body());
    this.socket =
        http.newWebSocketBuilder()
            .buildAsync(URI.create(target.path("webSocketDebuggerUrl").asText()), new Answers())
            .join();
    send("Page.enable", Map.of());
    send("Runtime.enable", Map.of());
    send("Log.enable", Map.of());
  }

  private static Chromium start(Path program) throws IOException, InterruptedException {
    Path profile = Files.createTempDirectory("chromium");
    Process process =
        new ProcessBuilder(
                program.toString(),
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--ignore-certificate-errors",
                "--no-first-run",
                "--remote-debugging-port=0",
                "--user-data-dir=" + profile,
                "about:blank")
            .redirectErrorStream(true)
            .redirectOutput(profile.resolve("output").toFile())
            .start();
    return new Chromium(process, profile);
  }

  private final class Answers implements WebSocket.Listener {
    private final StringBuilder text = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
      text.append(part);
      if (last) {
        received(text.toString());
        text.setLength(0);
      }
      from.request(1);
      return CompletableFuture.completedFuture(null);
    }
  }

  private void received(String text) {
    try {
      JsonNode message = JSON.readTree(text);
      CompletableFuture<JsonNode> waiting = asked.remove(message.path("id").asInt(-1));
      if (waiting != null) {
        waiting.complete(message);
      } else if (message.path("method").asText().equals("Runtime.exceptionThrown")) {
        complain(message.at("/params/exceptionDetails").toString());
      } else if (message.path("method").asText().equals("Log.entryAdded")
          && message.at("/params/entry/source").asText().equals("security")) {
        complain(message.at("/params/entry/text").asText());
      }
    } catch (IOException e) {
      throw new IllegalStateException(text, e);
    }
  }

  private void complain(String complaint) {
    synchronized (complaints) {
      complaints.add(complaint);
    }
  }

  /** Exceptions that no script caught, and violations of the content security policy. */
  List<String> complaints() {
    synchronized (complaints) {
      return List.copyOf(complaints);
    }
  }

  /** Sends a command of the protocol, and waits for its result. */
  JsonNode send(String method, Map<String, ?> parameters) {
    int id = number.incrementAndGet();
    ObjectNode message = JSON.createObjectNode().put("id", id).put("method", method);
    message.set("params", JSON.valueToTree(parameters));
    CompletableFuture<JsonNode> answer = new CompletableFuture<>();
    asked.put(id, answer);
    socket.sendText(message.toString(), true).join();
    JsonNode received = answer.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join();
    assertThat(received.path("error").toString()).as(method).isEmpty();
    return received.path("result");
  }

  /** Opens an address, and waits until the document is there. */
  void open(String address) {
    send("Page.navigate", Map.of("url", address));
    await("document.readyState === 'complete' && location.href !== 'about:blank'");
  }

  /** The value of an expression, after a promise is settled. */
  JsonNode evaluate(String expression) {
    JsonNode result =
        send(
            "Runtime.evaluate",
            Map.of("expression", expression, "awaitPromise", true, "returnByValue", true));
    assertThat(result.path("exceptionDetails").toString()).as(expression).isEmpty();
    return result.path("result").path("value");
  }

  /** Waits until an expression is true. */
  void await(String expression) {
    Awaitility.await(expression)
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(20))
        .untilAsserted(
            () ->
                assertThat(evaluate("Boolean(" + expression + ")").asBoolean())
                    .as("%s on the page %s", expression, text())
                    .isTrue());
  }

  /** The text that the page shows. */
  String text() {
    return evaluate("document.body.innerText").asText();
  }

  /** Waits until the page shows this text. */
  void awaitText(String text) {
    Awaitility.await("text " + text)
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(20))
        .untilAsserted(() -> assertThat(text()).contains(text));
  }

  /** Types a text where the focus is. */
  void type(String text) {
    send("Input.insertText", Map.of("text", text));
  }

  /** Presses a key that has a character, or {@code Enter} or {@code Escape}. */
  void press(String key) {
    int code = key.equals("Enter") ? 13 : key.equals("Escape") ? 27 : 0;
    String text = key.equals("Enter") ? "\r" : key.equals("Escape") ? "" : key;
    Map<String, ?> down =
        Map.of("type", "keyDown", "key", key, "text", text, "windowsVirtualKeyCode", code);
    Map<String, ?> up = Map.of("type", "keyUp", "key", key, "windowsVirtualKeyCode", code);
    send("Input.dispatchKeyEvent", down);
    send("Input.dispatchKeyEvent", up);
  }

  /** Sets the size of the page, and which colors the system prefers. */
  void show(int width, int height, boolean dark) {
    send(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 500));
    send(
        "Emulation.setEmulatedMedia",
        Map.of(
            "features",
            List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
  }

  /** Writes what is seen as a picture. */
  void picture(Path file) throws IOException {
    JsonNode taken = send("Page.captureScreenshot", Map.of("format", "png"));
    Files.createDirectories(file.getParent());
    Files.write(file, Base64.getDecoder().decode(taken.path("data").asText()));
  }

  @Override
  public void close() throws IOException {
    socket.abort();
    http.close();
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly().onExit().join();
    try (Stream<Path> files = Files.walk(profile)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    }
  }
}
