package dev.sluice.kube.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

class ResponseStreamTest {

  /** A connection that is closed while another request uses it already fails that request. */
  @Test
  void theConnectionOfACompleteAnswerStaysOpen() throws IOException {
    Set<Integer> clients = ConcurrentHashMap.newKeySet();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          clients.add(exchange.getRemoteAddress().getPort());
          byte[] body = "{\"items\": []}".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    String url = "http://127.0.0.1:" + server.getAddress().getPort();
    try (KubernetesClient client =
        new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder().withMasterUrl(url).build())
            .build()) {
      for (int i = 0; i < 20; i++) {
        HttpRequest request = client.getHttpClient().newHttpRequestBuilder().uri(url).build();
        try (ResponseStream answer =
            ResponseStream.open(
                client.getHttpClient(), request, Duration.ofSeconds(30), InstantSource.system())) {
          answer.transferTo(OutputStream.nullOutputStream());
        }
      }
    } finally {
      server.stop(0);
    }

    // The next request may be sent before the connection is free again.
    assertThat(clients).hasSizeLessThan(10);
  }
}
