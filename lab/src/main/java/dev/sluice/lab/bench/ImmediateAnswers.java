package dev.sluice.lab.bench;

import com.sun.net.httpserver.HttpServer;
import dev.sluice.lab.controlplane.ControlPlane.FreePorts;
import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.ManagedProcess;
import dev.sluice.lab.controlplane.Poller;
import dev.sluice.lab.controlplane.ProcessLauncher;
import dev.sluice.lab.process.OperatorProcess.JavaCommand;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.random.RandomGenerator;

/**
 * A process of its own that allows every review at once, without TLS and without reading it. What a
 * review takes there is what the machine alone makes it take while a benchmark runs: the time that
 * sender and answerer wait for a processor. No webhook can be faster.
 */
public final class ImmediateAnswers implements AutoCloseable {

  private static final byte[] ALLOWED =
      "{\"response\":{\"allowed\":true}}".getBytes(StandardCharsets.UTF_8);
  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  private final ManagedProcess process;
  private final Path log;
  private final URI address;

  private ImmediateAnswers(ManagedProcess process, Path log, URI address) {
    this.process = process;
    this.log = log;
    this.address = address;
  }

  /**
   * Answers until it is ended.
   *
   * @param arguments the port of the loopback address to listen on
   */
  public static void main(String[] arguments) throws IOException {
    HttpServer server = HttpServer.create(loopback(Integer.parseInt(arguments[0])), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(200, ALLOWED.length);
          exchange.getResponseBody().write(ALLOWED);
          exchange.close();
        });
    server.start();
  }

  /** Starts the process, and returns when it accepts connections. */
  static ImmediateAnswers start() {
    int port = FreePorts.choose(1, RandomGenerator.getDefault()).getFirst();
    Path log = logFile();
    ManagedProcess process =
        new ProcessLauncher(Lifetime.WITH_THIS_PROCESS)
            .start(
                "immediate-answers",
                JavaCommand.of(ImmediateAnswers.class, Integer.toString(port)),
                log);
    ImmediateAnswers started =
        new ImmediateAnswers(process, log, URI.create("http://127.0.0.1:" + port + "/"));
    try {
      new Poller(InstantSource.system(), START_LIMIT)
          .await("accepting connections", List.of(process), () -> accepts(port));
      return started;
    } catch (RuntimeException e) {
      started.close();
      throw e;
    }
  }

  private static Path logFile() {
    try {
      return Files.createTempFile("immediate-answers", ".log");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean accepts(int port) {
    try (Socket socket = new Socket()) {
      socket.connect(loopback(port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  /** Where it answers. */
  URI address() {
    return address;
  }

  /** Ends the process. */
  @Override
  public void close() {
    process.kill();
    try {
      Files.deleteIfExists(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
