package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.endtoend.QuotaWatch.Excess;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.PlayedKinds;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tenants try to run more than their quota at the same time, each by another way and in a namespace
 * of its own, beside honest Jobs. What ran is told by pods on nodes alone.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
@Order(3)
class TenantsEveningIT {

  private static final Logger LOG = LoggerFactory.getLogger(TenantsEveningIT.class);
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final int CPUS = 2;
  private static final int HONEST = 10;
  private static final int AFTERWARDS = 10;

  /** A Job whose pods nothing stops runs for an hour: an excess that nobody ends lasts longer. */
  private static final Duration MOST = Duration.ofSeconds(30);

  @ParameterizedTest(name = "policies {0}")
  @EnumSource(Tenant.Policies.class)
  void nobodyRunsMoreThanTheQuota(Tenant.Policies policies, TestCluster cluster) throws Exception {
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1));
    try (LocalOperator operator =
            LocalOperator.start(
                "tenants-evening", cluster.kubeconfig(), PlayedKinds.configuration());
        PlayedKinds kinds = PlayedKinds.play(cluster.client());
        JobLoad honest = new JobLoad(cluster, Duration.ofSeconds(1));
        ExecutorService tenants = Executors.newVirtualThreadPerTaskExecutor()) {
      assertThat(kinds.count()).isPositive();
      honest.withRoomFor(2);
      poison(cluster);
      honest.submit(HONEST);
      Map<String, QuotaWatch> watches = new LinkedHashMap<>();
      List<Future<?>> played = new ArrayList<>();
      TenantSteps.all()
          .forEach(
              (name, step) -> {
                String namespace = namespace(cluster, name);
                watches.put(
                    name,
                    new QuotaWatch(cluster.client(), namespace, CPUS, InstantSource.system()));
                played.add(tenants.submit(() -> play(cluster, namespace, policies, step)));
              });
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
      judge(policies, watches);
      assertThat(operator.isAlive()).isTrue();
      assertThat(operator.isHealthy()).isTrue();
      watches.values().forEach(QuotaWatch::close);
    }
  }

  private static void judge(Tenant.Policies policies, Map<String, QuotaWatch> watches) {
    watches.forEach(
        (name, watch) -> {
          await("no more than the quota: " + name)
              .atMost(MOST)
              .untilAsserted(() -> assertThat(watch.present()).isEmpty());
          List<Excess> excesses = watch.excesses();
          LOG.info(
              "policies={} step={} pods={} excesses={}", policies, name, watch.everRan(), excesses);
          assertThat(excesses)
              .as("%s: times in which more ran than the quota", name)
              .allMatch(excess -> excess.lasted().compareTo(MOST) < 0);
        });
  }

  /** A namespace with a queue of its own. */
  private static String namespace(TestCluster cluster, String step) {
    String namespace = cluster.createNamespace(step);
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: %1$s}
        spec:
          namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %1$s}}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "flavor-${suffix}"
              resources: [{name: cpu, nominalQuota: %2$d}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq, namespace: %1$s}
        spec: {clusterQueue: %1$s}
        """
            .formatted(namespace, CPUS));
    return namespace;
  }

  private static void play(
      TestCluster cluster, String namespace, Tenant.Policies policies, Consumer<Tenant> step) {
    try (Tenant tenant = new Tenant(cluster, namespace, policies)) {
      step.accept(tenant);
    }
  }

  /** Texts that took minutes to read once, from another tenant. */
  private static void poison(TestCluster cluster) {
    String namespace = namespace(cluster, "poison");
    try (Tenant tenant = new Tenant(cluster, namespace, Tenant.Policies.HOLD)) {
      String commas = ",".repeat(200_000);
      for (int i = 0; i < 20; i++) {
        for (String annotation :
            List.of("sluice.dev/placement-cluster-selector", "kueue.x-k8s.io/admission-gated-by")) {
          tenant.create(
              """
              apiVersion: batch/v1
              kind: Job
              metadata:
                generateName: poison-
                labels: {kueue.x-k8s.io/queue-name: lq}
                annotations: {%s: "%s"}
              spec:
                template:
                  spec: {restartPolicy: Never, containers: [{name: c, image: none}]}
              """
                  .formatted(annotation, commas));
        }
      }
    }
  }
}
