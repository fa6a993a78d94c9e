package dev.sluice.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.api.config.Configuration.BindAddress;
import dev.sluice.server.http.HttpService.ConnectionFront;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Connections of several sources, which are addresses of the loopback network. */
class ConnectionFrontTest {

  private static final String HONEST = "127.0.0.1";
  private static final String HOSTILE = "127.0.0.2";
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Duration SHORT = Duration.ofMillis(200);

  private final ServerSocket echo = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
  private final List<Socket> sockets = new ArrayList<>();
  private final List<AutoCloseable> opened = new ArrayList<>();

  ConnectionFrontTest() throws IOException {
    Thread.ofVirtual().start(this::echo);
  }

  /** A server that answers what it hears. */
  private void echo() {
    while (!echo.isClosed()) {
      try {
        Socket heard = echo.accept();
        Thread.ofVirtual()
            .start(
                () -> {
                  try (heard) {
                    heard.getInputStream().transferTo(heard.getOutputStream());
                  } catch (IOException e) {
                    assertThat(heard.isClosed()).isTrue();
                  }
                });
      } catch (IOException e) {
        assertThat(echo.isClosed()).isTrue();
      }
    }
  }

  @AfterEach
  void close() throws Exception {
    for (Socket socket : sockets) {
      socket.close();
    }
    for (AutoCloseable each : opened) {
      each.close();
    }
    echo.close();
  }

  private ConnectionFront front(ConnectionFront.Limits limits) throws IOException {
    ConnectionFront front =
        new ConnectionFront(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            limits,
            Thread.ofVirtual().factory());
    opened.add(front);
    front.start((InetSocketAddress) echo.getLocalSocketAddress());
    return front;
  }

  private Socket connect(String source, int port) throws IOException {
    Socket socket = new Socket();
    sockets.add(socket);
    socket.bind(new InetSocketAddress(source, 0));
    socket.connect(new InetSocketAddress(HONEST, port));
    socket.setSoTimeout((int) LONG.toMillis());
    return socket;
  }

  private static boolean isAnswered(Socket socket) {
    try {
      socket.getOutputStream().write('x');
      return socket.getInputStream().read() == 'x';
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void bytesArriveUnchangedInBothDirections() throws Exception {
    Socket socket = connect(HONEST, front(new ConnectionFront.Limits(4, 4, LONG, LONG)).port());
    byte[] bytes = new byte[3_000_001];
    new Random(1).nextBytes(bytes);
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                socket.getOutputStream().write(bytes);
                socket.shutdownOutput();
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });

    assertThat(socket.getInputStream().readAllBytes()).isEqualTo(bytes);
  }

  @Test
  void whoOpensManyConnectionsClosesTheirOwn() throws Exception {
    ConnectionFront front = front(new ConnectionFront.Limits(8, 6, LONG, LONG));
    Socket kept = connect(HONEST, front.port());
    assertThat(isAnswered(kept)).isTrue();
    Socket first = connect(HOSTILE, front.port());
    assertThat(isAnswered(first)).isTrue();
    for (int i = 0; i < 100; i++) {
      connect(HOSTILE, front.port());
    }
    await().until(() -> first.getInputStream().read() == -1);

    assertThat(isAnswered(kept)).isTrue();
    assertThat(isAnswered(connect(HONEST, front.port()))).isTrue();
    assertThat(isAnswered(connect(HOSTILE, front.port()))).isTrue();
    assertThat(front.open()).isLessThanOrEqualTo(8);
  }

  @Test
  void manySourcesLeaveRoomForOneMore() throws Exception {
    ConnectionFront front = front(new ConnectionFront.Limits(8, 6, LONG, LONG));
    for (int source = 2; source < 60; source++) {
      connect("127.0.0." + source, front.port());
    }

    assertThat(isAnswered(connect(HONEST, front.port()))).isTrue();
    assertThat(front.open()).isLessThanOrEqualTo(8);
  }

  @Test
  void whoIsSilentFromTheBeginningIsClosed() throws Exception {
    Socket silent = connect(HONEST, front(new ConnectionFront.Limits(4, 4, SHORT, LONG)).port());

    assertThat(silent.getInputStream().read()).isEqualTo(-1);
  }

  @Test
  void whoFallsSilentIsClosed() throws Exception {
    Socket socket = connect(HONEST, front(new ConnectionFront.Limits(4, 4, LONG, SHORT)).port());
    assertThat(isAnswered(socket)).isTrue();

    assertThat(socket.getInputStream().read()).isEqualTo(-1);
  }

  @Test
  void theSourceOfAConnectionIsKnown() throws Exception {
    assertThat(ConnectionFront.source(InetAddress.getByName("10.1.2.3"))).isEqualTo("0a010203");
    assertThat(ConnectionFront.source(InetAddress.getByName("2001:db8:1:2:3:4:5:6")))
        .isEqualTo(ConnectionFront.source(InetAddress.getByName("2001:db8:1:2::9")));
    assertThat(front(new ConnectionFront.Limits(4, 4, LONG, LONG)).source(1)).isEmpty();
  }

  @Test
  void probesAreAnsweredBesideThousandsOfIdleConnections() throws Exception {
    HttpService service =
        HttpService.plain(
            new BindAddress("127.0.0.1", 0),
            request -> Response.text(200, request.source()),
            Duration.ZERO);
    opened.add(service);
    for (int i = 0; i < 2100; i++) {
      connect(i % 2 == 0 ? HOSTILE : HONEST, service.port());
    }

    try (HttpClient client = HttpClient.newHttpClient()) {
      for (int i = 0; i < 20; i++) {
        HttpResponse<String> answer =
            client.send(
                HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + service.port() + "/healthz"))
                    .build(),
                HttpResponse.BodyHandlers.ofString(UTF_8));
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("7f000001\n");
        connect(HOSTILE, service.port());
      }
    }
  }
}
