package dev.sluice.checks.multikueue;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.sluice.api.v1beta2.MultiKueueCluster;
import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.server.certificates.ReloadableKeyManager;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Workers that send without end. The manager is a process in 256 MiB, with the options that
 * docs/operating.md names for this size.
 */
@ControlPlaneTest(exclusive = true, controllers = false)
@Tag(BuildBreadth.NIGHTLY)
class LyingWorkersIT {

  private static final long MIB = 1 << 20;
  private static final Pattern SELECTOR = Pattern.compile("labelSelector=([^=&]+)=([^&]+)");
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private static final List<String> IN_256_MIB =
      List.of("-XX:MaxRAM=256m", "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  /** What a worker answers to every request. */
  private enum Lie {
    /** One object that has no end. */
    OBJECT("an object of more than \\d+ bytes"),
    /** Objects without end in one page. */
    PAGE("its objects take more than \\d+ bytes together"),
    /** Pages without end, of a thousand objects each. */
    PAGES("its objects take more than \\d+ bytes together"),
    /** An honest list, and a watch that tells of new objects without end. */
    WATCH("(its objects take|an answer about one object of) more than \\d+ bytes");

    private final String message;

    Lie(String message) {
      this.message = message;
    }

    private void answer(HttpExchange exchange) throws IOException {
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, 0);
      String query = String.valueOf(exchange.getRequestURI().getQuery());
      boolean watches = query.contains("watch=");
      Matcher selector = SELECTOR.matcher(query);
      String labels =
          selector.find() ? "\"%s\":\"%s\"".formatted(selector.group(1), selector.group(2)) : "";
      try (OutputStream body = exchange.getResponseBody()) {
        switch (this) {
          case OBJECT -> {
            write(body, "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{\"x\":\"");
            forever(body, "x".repeat(100_000));
          }
          case PAGE -> {
            write(
                body, "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" + object(0, labels));
            for (long i = 1; ; i++) {
              write(body, "," + object(i, labels));
            }
          }
          case PAGES -> {
            long first = System.nanoTime();
            write(
                body,
                "{\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"more\"},\"items\":["
                    + object(first, labels));
            for (long i = 1; i < 1000; i++) {
              write(body, "," + object(first + i, labels));
            }
            write(body, "]}");
          }
          case WATCH -> {
            if (!watches) {
              write(body, "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}");
              return;
            }
            for (long i = 0; ; i++) {
              write(body, "{\"type\":\"ADDED\",\"object\":" + object(i, labels) + "}\n");
            }
          }
        }
      }
    }

    /** An object of 3 KiB in one of 100 namespaces, of whatever kind was asked for. */
    private static String object(long number, String labels) {
      return "{\"metadata\":{\"namespace\":\"n%d\",\"name\":\"o%d\",\"uid\":\"u%d\",\"resourceVersion\":\"8\",\"labels\":{%s},\"annotations\":{\"a\":\"%s\"}},\"spec\":{}}"
          .formatted(number % 100, number, number, labels, "x".repeat(3000));
    }

    private static void forever(OutputStream body, String text) throws IOException {
      while (true) {
        write(body, text);
      }
    }

    private static void write(OutputStream body, String text) throws IOException {
      body.write(text.getBytes(UTF_8));
    }
  }

  @Test
  void aManagerWithLittleMemoryCutsThemOffAndNamesThem(
      ControlPlane controlPlane, TestCluster cluster, @TempDir Path directory) throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        OperatorProcess manager =
            OperatorProcess.start(
                    "manager",
                    cluster.kubeconfig(),
                    OperatorSettings.onFreePorts(new SecureRandom())
                        .with("featureGates: {MultiKueueKubeConfigPathValidation: false}\n"),
                    controlPlane.logs(),
                    List.of(),
                    IN_256_MIB)
                .awaitReady()) {
      for (Lie lie : Lie.values()) {
        HttpsServer liar = lie(cluster, directory, lie, threads);
        try {
          await(lie + " cut off")
              .atMost(LIMIT)
              .pollInterval(Duration.ofMillis(250))
              .failFast("the manager ended", () -> !manager.isAlive())
              .untilAsserted(
                  () ->
                      assertThat(message(cluster, lie))
                          .startsWith("cut off: ")
                          .containsPattern(lie.message));
        } finally {
          liar.stop(0);
        }
      }
      await("the manager to be ready").atMost(LIMIT).until(manager::isReady);
      assertThat(manager.isAlive()).isTrue();
      System.out.println("peak of a manager in 256 MiB: " + manager.peakResidentBytes() / MIB);
      assertThat(manager.peakResidentBytes()).isLessThan(256 * MIB);
    }
  }

  private static String message(TestCluster cluster, Lie lie) {
    MultiKueueCluster read =
        cluster.client().resources(MultiKueueCluster.class).withName(name(lie)).require();
    return read.getStatus() == null || read.getStatus().conditions().isEmpty()
        ? ""
        : read.getStatus().conditions().getFirst().getMessage();
  }

  private static String name(Lie lie) {
    return "liar-" + lie.name().toLowerCase(Locale.ROOT);
  }

  private static HttpsServer lie(
      TestCluster cluster, Path directory, Lie lie, ExecutorService threads)
      throws IOException, GeneralSecurityException {
    CertificateAuthority maker =
        new CertificateAuthority(InstantSource.system(), new SecureRandom());
    CertificateWithKey authority = maker.authority(Duration.ofHours(1));
    HttpsServer liar =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    liar.setHttpsConfigurator(
        new HttpsConfigurator(
            tls(maker.serving(authority, List.of("127.0.0.1"), Duration.ofHours(1)))));
    liar.setExecutor(threads);
    liar.createContext("/", lie::answer);
    liar.start();
    Path file = directory.resolve(name(lie));
    Files.writeString(file, kubeconfig(liar.getAddress().getPort(), authority.certificatePem()));
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: MultiKueueCluster
        metadata: {name: %s}
        spec:
          clusterSource:
            kubeConfig: {locationType: Path, location: "%s"}
        """
            .formatted(name(lie), file));
    return liar;
  }

  private static SSLContext tls(CertificateWithKey serving) throws GeneralSecurityException {
    ReloadableKeyManager keys = new ReloadableKeyManager();
    keys.use(serving);
    return keys.context();
  }

  private static String kubeconfig(int port, String authority) {
    return """
    apiVersion: v1
    kind: Config
    current-context: c
    clusters: [{name: c, cluster: {server: "https://127.0.0.1:%d", certificate-authority-data: %s}}]
    contexts: [{name: c, context: {cluster: c, user: u}}]
    users: [{name: u, user: {token: of-a-liar}}]
    """
        .formatted(port, Base64.getEncoder().encodeToString(authority.getBytes(UTF_8)));
  }
}
