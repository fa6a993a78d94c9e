package dev.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.MetricsEndpoint;
import dev.sluice.testing.TestCluster;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The ports of an operator, and clients who want them for themselves. */
@ControlPlaneTest(exclusive = true, controllers = false)
@Execution(ExecutionMode.SAME_THREAD) // one operator at a time
@Tag(BuildBreadth.NIGHTLY)
class PortsIT {

  private static final int IDLE = 1100;
  private static final int FORGED = 1000;
  private static final int PAGES = 1000;
  private static final Pattern REVIEWS =
      Pattern.compile(
          "(?m)^apiserver_request_total\\{[^}]*resource=\"tokenreviews\"[^}]*} ([0-9.e+]+)$");

  private final OperatorSettings settings = OperatorSettings.onFreePorts(new Random());

  @Test
  void othersAreServedWhileOneAsksForEverything(TestCluster cluster) throws Exception {
    List<Socket> idle = new ArrayList<>();
    SSLContext trusting = SSLContext.getInstance("TLS");
    trusting.init(null, new TrustManager[] {new TrustAll()}, new SecureRandom());
    try (LocalOperator operator =
            LocalOperator.start("operator-of-ports", cluster.kubeconfig(), settings);
        HttpClient client = HttpClient.newBuilder().sslContext(trusting).build()) {
      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ClusterQueue
          metadata: {name: "cq-${suffix}"}
          spec: {}
          """);
      MetricsEndpoint metrics = new MetricsEndpoint(cluster.client(), settings.metricsPort());
      String scraper = metrics.token();
      assertThat(metrics.get(scraper).statusCode()).isEqualTo(200);

      // idle connections at the probes' port
      for (int i = 0; i < IDLE; i++) {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress("127.0.0.1", settings.healthPort()));
        idle.add(socket);
      }
      // a kubelet restarts a container after three probes that fail, ten seconds apart
      Awaitility.await("a probe beside idle connections")
          .atMost(Duration.ofSeconds(20))
          .until(operator::isHealthy);

      // forged tokens at the metrics' port, by the address that the scraper has, too
      double before = reviews(cluster);
      long begun = System.nanoTime();
      Map<Integer, Integer> answers = new TreeMap<>();
      for (int i = 0; i < FORGED; i++) {
        answers.merge(
            get(client, settings.metricsPort(), "/metrics", "forged-" + i), 1, Integer::sum);
      }
      double seconds = (System.nanoTime() - begun) / 1e9;
      double asked = reviews(cluster) - before;
      assertThat(asked).as("%s in %.1f s", answers, seconds).isBetween(1.0, 25 + 5 * seconds);
      assertThat(answers).containsKeys(401, 429);
      assertThat(metrics.get(scraper).statusCode()).isEqualTo(200);

      // pages of one user, and one of another
      String greedy = token(cluster, "greedy");
      String modest = token(cluster, "modest");
      String page =
          "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/"
              + cluster.name("cq")
              + "/pendingworkloads";
      Map<Integer, Integer> pages = new TreeMap<>();
      for (int i = 0; i < PAGES; i++) {
        pages.merge(get(client, settings.visibilityPort(), page, greedy), 1, Integer::sum);
      }
      assertThat(pages).as("%s", pages).containsOnlyKeys(200, 429);
      assertThat(get(client, settings.visibilityPort(), page, modest)).isEqualTo(200);
      System.out.printf(
          "forged tokens: %s in %.1f s, %.0f TokenReviews; pages: %s%n",
          answers, seconds, asked, pages);
    } finally {
      for (Socket socket : idle) {
        socket.close();
      }
    }
  }

  /** Gate VisibilityOnDemand: explanations are served at the same port, and pages aren't. */
  @Test
  void withoutTheGatePagesOfPendingWorkloadsAreNotServed(TestCluster cluster) throws Exception {
    OperatorSettings off =
        OperatorSettings.onFreePorts(new Random())
            .with("featureGates: {VisibilityOnDemand: false}");
    SSLContext trusting = SSLContext.getInstance("TLS");
    trusting.init(null, new TrustManager[] {new TrustAll()}, new SecureRandom());
    try (LocalOperator operator =
            LocalOperator.start("operator-without-pages", cluster.kubeconfig(), off);
        HttpClient client = HttpClient.newBuilder().sslContext(trusting).build()) {
      String page = "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/any/pendingworkloads";
      assertThat(get(client, off.visibilityPort(), page, token(cluster, "reader"))).isEqualTo(404);
      assertThat(operator.isHealthy()).isTrue();
    }
  }

  private static int get(HttpClient client, int port, String path, String token) throws Exception {
    return client
        .send(
            HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + path))
                .header("Authorization", "Bearer " + token)
                .build(),
            HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }

  private static double reviews(TestCluster cluster) {
    return REVIEWS
        .matcher(cluster.client().raw("/metrics"))
        .results()
        .mapToDouble(found -> Double.parseDouble(found.group(1)))
        .sum();
  }

  /** A token of a service account that may see all queues. */
  private static String token(TestCluster cluster, String name) {
    cluster.applyText(
        """
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: %1$s, namespace: kueue-system}
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata: {name: "%1$s-of-ports"}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
        subjects: [{kind: ServiceAccount, name: %1$s, namespace: kueue-system}]
        """
            .formatted(name));
    return cluster
        .client()
        .serviceAccounts()
        .inNamespace("kueue-system")
        .withName(name)
        .tokenRequest(
            new io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder()
                .withNewSpec()
                .endSpec()
                .build())
        .getStatus()
        .getToken();
  }
}
