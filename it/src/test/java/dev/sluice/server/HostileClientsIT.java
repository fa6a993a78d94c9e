package dev.sluice.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.BuildBreadth;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.SecureRandom;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The webhook server, in a process with little memory that ends when that is used up, and clients
 * who want just this.
 */
@Tag(BuildBreadth.NIGHTLY)
class HostileClientsIT {

  private static final int MIB = 1024 * 1024;
  private static final String REVIEW =
      """
      {"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{
        "uid":"1","operation":"CREATE","namespace":"team","name":"sample",
        "kind":{"group":"batch","version":"v1","kind":"Job"},
        "object":{"metadata":{"name":"sample"},"spec":{"parallelism":3}}}}
      """;

  @TempDir private Path directory;
  private Process process = new ProcessBuilder().command("true").start();
  private int port;
  private SSLContext trusting = SSLContext.getDefault();

  HostileClientsIT() throws Exception {}

  @BeforeEach
  void trust() throws Exception {
    trusting = SSLContext.getInstance("TLS");
    trusting.init(null, new TrustManager[] {new TrustAll()}, new SecureRandom());
  }

  private void start(String heap) throws Exception {
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + heap,
                "-XX:+UseSerialGC",
                "-XX:+ExitOnOutOfMemoryError",
                "-cp",
                System.getProperty("java.class.path"),
                WebhookProcess.class.getName())
            .redirectError(directory.resolve("log").toFile())
            .start();
    BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    port = Integer.parseInt(out.readLine());
  }

  @AfterEach
  void stop() {
    process.destroyForcibly();
  }

  @Test
  void honestReviewsAreAnsweredWhileTwoHundredConnectionsAttack() throws Exception {
    start("128m");
    try (HttpClient honest = HttpClient.newBuilder().sslContext(trusting).build();
        HostileConnections hostile = new HostileConnections(port, WebhookProcess.PATH)) {
      assertThat(review(honest)).isEqualTo(200);
      hostile.attack(20);
      assertThat(hostile.opened()).isEqualTo(200);
      int answered = 0;
      while (hostile.isUnderWay() || answered < 50) {
        assertThat(review(honest)).isEqualTo(200);
        answered++;
      }
    }
    assertThat(process.isAlive()).isTrue();
  }

  @Test
  void aListOfManyWorkloadsIsConvertedWithLittleMemory() throws Exception {
    start("256m");
    ByteArrayOutputStream list = new ByteArrayOutputStream();
    list.writeBytes(
        """
        {"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{
        "uid":"7","desiredAPIVersion":"kueue.x-k8s.io/v1beta2","objects":[\
        """
            .getBytes(UTF_8));
    String workload =
        """
        {"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Workload","metadata":{"name":"w%d",
        "annotations":{"filling":"%s"}},"spec":{"queueName":"q"}}\
        """
            .formatted(1, "x".repeat(3500));
    for (int i = 0; i < 5000; i++) {
      list.writeBytes((i == 0 ? workload : "," + workload).getBytes(UTF_8));
    }
    list.writeBytes("]}}".getBytes(UTF_8));
    assertThat(list.size()).isGreaterThan(17 * MIB);

    try (HttpClient client = HttpClient.newBuilder().sslContext(trusting).build()) {
      HttpResponse<String> answer = post(client, "/convert", list.toByteArray());

      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body().split("kueue.x-k8s.io/v1beta2", -1)).hasSize(5001);
      assertThat(answer.body()).endsWith("\"result\":{\"status\":\"Success\"}}}");
    }
  }

  private int review(HttpClient client) throws Exception {
    return post(client, WebhookProcess.PATH, REVIEW.getBytes(UTF_8)).statusCode();
  }

  private HttpResponse<String> post(HttpClient client, String path, byte[] body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + path))
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }
}
