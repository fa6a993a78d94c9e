package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.endtoend.QuotaWatch.Excess;
import dev.sluice.endtoend.TenantWays.Way;
import dev.sluice.jobs.kinds.argo.Workflow;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedKinds;
import dev.sluice.lab.player.PlayedWorkflow;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.MetricsEndpoint;
import dev.sluice.testing.SilentNode;
import dev.sluice.testing.TestCluster;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tenants try to run more than their quota at the same time, each by another way and in a namespace
 * of its own ({@link TenantWays}), and one tries to keep the operator from its work, beside honest
 * Jobs of another team. What ran is told by pods on nodes alone.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
@Order(3)
class AdversaryIT {

  private static final Logger LOG = LoggerFactory.getLogger(AdversaryIT.class);
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final int HONEST = 10;
  private static final int AFTERWARDS = 10;
  private static final int IDLE = 1100;
  private static final int FORGED = 30;
  private static final int UNKNOWN = HttpURLConnection.HTTP_UNAUTHORIZED;
  private static final int TOO_MANY = 429;

  /** The excesses of a way together; one that nobody ends lasts for an hour. */
  private static final Duration MOST = Duration.ofSeconds(30);

  /** How the operator and the API server are set up. */
  enum Setup {
    /** As they are shipped. */
    SHIPPED(false, Tenant.Policies.HOLD),
    /** Pods are counted, and no policy refuses a step. */
    COUNTED(false, Tenant.Policies.PASS),
    /** Pods are compared before they exist, and no policy refuses a step. */
    PREVENTED(true, Tenant.Policies.PASS);

    private final boolean prevent;
    private final Tenant.Policies policies;

    Setup(boolean prevent, Tenant.Policies policies) {
      this.prevent = prevent;
      this.policies = policies;
    }

    String configuration() {
      return PlayedKinds.configuration()
          + "kubeQueue: {enabled: true, sources: []}\n"
          + "podAccounting: %s\n".formatted(prevent ? "Prevent" : "Detect");
    }

    boolean mayExceed(Way way) {
      return way.held().mayRunFirst(prevent, policies);
    }
  }

  /**
   * Nightly without the policies, too, so that the accounts of Detect and Prevent have to hold by
   * themselves.
   */
  static List<Setup> setups() {
    return BuildBreadth.choose(List.of(Setup.values()), List.of(Setup.SHIPPED));
  }

  @ParameterizedTest
  @MethodSource("setups")
  void nobodyRunsMoreThanTheQuota(Setup setup, TestCluster cluster) throws Exception {
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
    PlayedDefinitions.install(cluster.client(), Workflow.KIND);
    List<Trial> trials = new ArrayList<>();
    List<Socket> idle = new ArrayList<>();
    try (LocalOperator operator =
            LocalOperator.start("adversary", cluster.kubeconfig(), setup.configuration());
        PlayedKinds kinds = PlayedKinds.play(cluster.client());
        KindPlayer workflows = new KindPlayer(cluster.client(), new PlayedWorkflow());
        SilentNode silent = new SilentNode(cluster, "pool: none");
        JobLoad honest = new JobLoad(cluster, Duration.ofSeconds(1));
        // Platform threads: the operator of this process has the virtual ones for itself.
        ExecutorService tenants = Executors.newCachedThreadPool()) {
      assertThat(List.of(kinds, workflows, silent)).doesNotContainNull();
      honest.withRoomFor(2);
      knock(idle, operator.settings().healthPort());
      honest.submit(HONEST);
      List<Future<?>> played = new ArrayList<>();
      for (Way way : TenantWays.all()) {
        Trial trial = new Trial(way, tenant(cluster, way, setup));
        trials.add(trial);
        Future<?> steps = tenants.submit(() -> way.steps().accept(trial.tenant));
        if (played.isEmpty()) {
          // The first way needs a review that is answered in time (TenantWays.makeLargePod).
          steps.get();
        }
        played.add(steps);
      }
      MetricsEndpoint metrics =
          new MetricsEndpoint(cluster.client(), operator.settings().metricsPort());
      String scraper = metrics.token();
      for (int i = 0; i < FORGED; i++) {
        String forged = "forged-" + i;
        played.add(
            tenants.submit(
                () -> assertThat(metrics.get(forged).statusCode()).isIn(UNKNOWN, TOO_MANY)));
      }
      for (Future<?> step : played) {
        step.get();
      }
      // What the steps lead to happens beside Jobs that come after them.
      for (int i = 0; i < AFTERWARDS; i++) {
        cluster.client().resource(honest.job("afterwards-" + i)).create();
      }
      await("honest Jobs complete")
          .atMost(LIMIT)
          .until(() -> honest.completed() == HONEST + AFTERWARDS);
      trials.forEach(trial -> trial.judge(setup));
      assertThat(operator.isAlive()).isTrue();
      assertThat(operator.isHealthy()).isTrue();
      assertThat(metrics.get(scraper).statusCode()).isEqualTo(HttpURLConnection.HTTP_OK);
    } finally {
      trials.forEach(Trial::close);
      for (Socket socket : idle) {
        socket.close();
      }
    }
  }

  /** A tenant on a way, whose pods are watched. */
  private static final class Trial implements AutoCloseable {
    private final Way way;
    private final Tenant tenant;
    private final QuotaWatch watch;

    Trial(Way way, Tenant tenant) {
      this.way = way;
      this.tenant = tenant;
      this.watch =
          new QuotaWatch(
              tenant.cluster().client(),
              tenant.namespace(),
              TenantWays.QUOTA,
              InstantSource.system());
    }

    void judge(Setup setup) {
      await("no more than the quota: " + way.name())
          .atMost(MOST)
          .untilAsserted(() -> assertThat(watch.present()).isEmpty());
      List<Excess> excesses = watch.excesses();
      Duration together =
          excesses.stream().map(Excess::lasted).reduce(Duration.ZERO, Duration::plus);
      LOG.info(
          "setup={} way={} pods={} excesses={} together={}",
          setup,
          way.name(),
          watch.everRan(),
          excesses.size(),
          together);
      assertThat(together)
          .as("%s: more ran than the quota: %s", way.name(), excesses)
          .isLessThanOrEqualTo(setup.mayExceed(way) ? MOST : Duration.ZERO);
    }

    @Override
    public void close() {
      watch.close();
      tenant.close();
    }
  }

  /** A tenant with a namespace and with queues of one quota. */
  private static Tenant tenant(TestCluster cluster, Way way, Setup setup) {
    String namespace = cluster.createNamespace(way.name());
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: %1$s}
        spec:
          namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %1$s}}
          resourceGroups:
          - coveredResources: [cpu, memory]
            flavors:
            - name: "flavor-${suffix}"
              resources:
              - {name: cpu, nominalQuota: "%2$s"}
              - {name: memory, nominalQuota: "%3$s"}
        """
            .formatted(namespace, TenantWays.QUOTA.get("cpu"), TenantWays.QUOTA.get("memory")));
    for (String queue : way.queues()) {
      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: LocalQueue
          metadata: {name: %s, namespace: %s}
          spec: {clusterQueue: %2$s}
          """
              .formatted(queue, namespace));
    }
    return new Tenant(cluster, namespace, setup.policies);
  }

  /** Opens connections to the probes' port, and says nothing. */
  private static void knock(List<Socket> idle, int port) throws IOException {
    for (int i = 0; i < IDLE; i++) {
      Socket socket = new Socket();
      idle.add(socket);
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }
  }
}
