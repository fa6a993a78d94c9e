package dev.sluice.lab.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.sluice.lab.controlplane.ControlPlane.FreePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TcpProxyTest {

  @SuppressWarnings("NullAway.Init") // made before each test
  private HttpServer server;

  @SuppressWarnings("NullAway.Init")
  private TcpProxy tcpProxy;

  @BeforeEach
  void lay() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, 5);
          exchange.getResponseBody().write("hello".getBytes(StandardCharsets.US_ASCII));
          exchange.close();
        });
    server.start();
    tcpProxy = TcpProxy.to(URI.create("http://127.0.0.1:" + server.getAddress().getPort()));
  }

  @AfterEach
  void takeUp() {
    tcpProxy.close();
    server.stop(0);
  }

  private String get() throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(HttpRequest.newBuilder(tcpProxy.listenAddress()).build(), BodyHandlers.ofString())
          .body();
    }
  }

  @Test
  void newConnectionsGoToTheServerToldLast() throws IOException, InterruptedException {
    URI running = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    int unused = FreePorts.choose(1, new Random()).getFirst();

    tcpProxy.redirectTo(URI.create("http://127.0.0.1:" + unused));
    assertThatThrownBy(this::get).isInstanceOf(IOException.class);

    tcpProxy.redirectTo(running);
    assertThat(get()).isEqualTo("hello");
  }

  @Test
  void carriesUntilItIsCutAndAgainWhenItIsMended() throws IOException, InterruptedException {
    assertThat(get()).isEqualTo("hello");

    tcpProxy.disconnect();

    assertThatThrownBy(this::get).isInstanceOf(IOException.class);

    tcpProxy.restore();

    assertThat(get()).isEqualTo("hello");
  }

  @Test
  void aCutEndsConnectionsThatStand() throws IOException {
    try (Socket open = new Socket("127.0.0.1", tcpProxy.listenAddress().getPort())) {
      open.getOutputStream()
          .write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      assertThat(open.getInputStream().read()).isPositive();

      tcpProxy.disconnect();

      assertThat(drained(open)).isTrue();
    }
  }

  /** Whether the connection ends, by an end of the stream or by an error. */
  private static boolean drained(Socket socket) {
    try {
      while (socket.getInputStream().read() >= 0) {
        continue;
      }
      return true;
    } catch (IOException reset) {
      return true;
    }
  }

  @Test
  void whatItSwallowsIsNeitherAnsweredNorRefused() throws IOException, InterruptedException {
    tcpProxy.blackhole();

    try (Socket open = new Socket("127.0.0.1", tcpProxy.listenAddress().getPort())) {
      open.setSoTimeout(300);
      open.getOutputStream()
          .write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      assertThatThrownBy(() -> open.getInputStream().read())
          .isInstanceOf(SocketTimeoutException.class);

      tcpProxy.restore();

      assertThat(drained(open)).isTrue();
    }
    assertThat(get()).isEqualTo("hello");
  }

  @Test
  void leadsKubeconfigsThroughItself() {
    String direct = "server: http://127.0.0.1:" + server.getAddress().getPort() + "\n";

    assertThat(tcpProxy.redirect(direct)).isEqualTo("server: " + tcpProxy.listenAddress() + "\n");
  }
}
