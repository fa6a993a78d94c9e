package dev.sluice.checks.multikueue;

import static dev.sluice.testing.MultiCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.FlavorUsage;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.MultiCluster;
import dev.sluice.testing.MultiClusterTest;
import dev.sluice.testing.Workload;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The manager, under the name here, is one of the clusters that its jobs run in. */
@MultiClusterTest
@Tag("scenario")
@Tag(BuildBreadth.NIGHTLY)
class LocalWorkerIT {

  @SuppressWarnings("NullAway.Init") // made before each test
  private MultiCluster clusters;

  @BeforeEach
  void setUp(MultiCluster share) {
    clusters = share;
    clusters.setUpWorker("remote");
    clusters.setUpManager(MultiCluster.text("/dev/sluice/checks/multikueue/local-worker.yaml"));
  }

  /** Two pods of one CPU each: the manager has room for one such job. */
  private void submit(String name, String runFor, String annotations) {
    clusters.apply(
        clusters.manager(),
        clusters
            .scenario("jobs/01-small.yaml")
            .replace("name: small", "name: " + name)
            .replace("  labels:\n", "  annotations: {" + annotations + "}\n  labels:\n")
            .replace(
                "  template:\n",
                "  template:\n    metadata: {annotations: {sluice.dev/run-for: "
                    + runFor
                    + "}}\n"));
  }

  private Map<String, String> reservedCpu() {
    return clusters
        .manager()
        .resources(ClusterQueue.class)
        .withName(clusters.name("everywhere"))
        .require()
        .getStatus()
        .flavorsReservation()
        .stream()
        .collect(
            Collectors.toMap(
                FlavorUsage::name,
                flavor ->
                    flavor.resources().stream()
                        .filter(it -> it.name().equals("cpu"))
                        .map(it -> String.valueOf(it.total()))
                        .findFirst()
                        .orElse("0")));
  }

  private Map<String, String> reserved(String ownNodes, String otherNodes) {
    return Map.of(clusters.name("own-nodes"), ownNodes, clusters.name("other-nodes"), otherNodes);
  }

  private String remoteStatus(String job) {
    return clusters
        .job(job)
        .getMetadata()
        .getAnnotations()
        .getOrDefault("sluice.dev/remote-status", "");
  }

  @Test
  void oneJobRunsHereTheNextElsewhereAndEachIsCountedOnce() {
    submit("at-home", "10m", "");
    eventually(() -> assertThat(clusters.job("at-home").getStatus().getActive()).isEqualTo(2));
    submit("away", "10m", "");

    eventually(
        () -> {
          assertThat(clusters.cluster("away")).isEqualTo("remote");
          assertThat(remoteStatus("away")).contains("\"active\":2");
        });
    assertThat(clusters.cluster("at-home")).isEmpty();
    assertThat(clusters.checkMessage("at-home"))
        .isEqualTo("The workload runs in this cluster, which is worker cluster \"here\"");
    assertThat(clusters.job("at-home").getSpec().getManagedBy()).isNull();
    assertThat(clusters.podsOf(clusters.manager(), "at-home")).isEqualTo(2);
    assertThat(clusters.podsOf(clusters.worker("remote"), "at-home")).isZero();
    assertThat(clusters.job("away").getSpec().getSuspend()).isTrue();
    assertThat(clusters.podsOf(clusters.manager(), "away")).isZero();
    eventually(() -> assertThat(reservedCpu()).isEqualTo(reserved("2", "2")));
    assertThat(
            clusters
                .worker("remote")
                .resources(Workload.class)
                .inNamespace(clusters.namespace())
                .list()
                .getItems())
        .hasSize(1);

    clusters.endPods(clusters.worker("remote"), "job-name", "away");
    clusters.awaitComplete("away", 2);
    eventually(() -> assertThat(remoteStatus("away")).isEmpty());
    clusters.awaitNothingLeft("away");
    clusters.endPods(clusters.manager(), "job-name", "at-home");
    clusters.awaitComplete("at-home", 2);
    assertThat(clusters.podsOf(clusters.manager(), "away")).isZero();
    eventually(() -> assertThat(reservedCpu()).isEqualTo(reserved("0", "0")));
  }

  @Test
  void aJobThatMayNotRunHereGetsNoQuotaOfThisCluster() {
    submit(
        "must-go",
        "1s",
        "sluice.dev/placement-cluster-selector: kubernetes.io/metadata.name!=here");

    clusters.awaitComplete("must-go", 2);
    assertThat(clusters.podsOf(clusters.manager(), "must-go")).isZero();
    clusters.awaitNothingLeft("must-go");
  }

  @Test
  void aJobElsewhereThatIsSentBackHoldsItsQuotaUntilItHasStoppedThere() {
    submit(
        "called-back",
        "10m",
        "sluice.dev/placement-cluster-selector: kubernetes.io/metadata.name!=here");
    eventually(() -> assertThat(remoteStatus("called-back")).contains("\"active\":2"));

    clusters.activate("called-back", false);

    eventually(
        () -> {
          assertThat(clusters.workload("called-back").getStatus().admission()).isNull();
          assertThat(remoteStatus("called-back")).isEmpty();
        });
    clusters.awaitNothingLeft("called-back");
    assertThat(clusters.podsOf(clusters.worker("remote"), "called-back")).isZero();
    clusters.activate("called-back", true);
    eventually(() -> assertThat(remoteStatus("called-back")).contains("\"active\":2"));
    clusters.endPods(clusters.worker("remote"), "job-name", "called-back");
    clusters.awaitComplete("called-back", 2);
  }

  @Test
  void aJobElsewhereWhoseWorkloadIsDeletedStopsThereAndQueuesAnew() {
    submit(
        "lost-track",
        "10m",
        "sluice.dev/placement-cluster-selector: kubernetes.io/metadata.name!=here");
    eventually(() -> assertThat(remoteStatus("lost-track")).contains("\"active\":2"));
    String first = clusters.workload("lost-track").getMetadata().getUid();

    clusters.manager().resource(clusters.workload("lost-track")).delete();

    eventually(
        () ->
            assertThat(
                    clusters
                        .manager()
                        .resources(Workload.class)
                        .inNamespace(clusters.namespace())
                        .list()
                        .getItems())
                .noneMatch(it -> it.getMetadata().getUid().equals(first)));
    eventually(
        () -> {
          assertThat(clusters.cluster("lost-track")).isEqualTo("remote");
          assertThat(remoteStatus("lost-track")).contains("\"active\":2");
        });
    clusters.endPods(clusters.worker("remote"), "job-name", "lost-track");
    clusters.awaitComplete("lost-track", 2);
    clusters.awaitNothingLeft("lost-track");
    assertThat(remoteStatus("lost-track")).isEmpty();
  }

  @Test
  void aJobThatWouldGetQuotaOfBothSidesIsRejected() {
    clusters.apply(
        clusters.manager(),
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: torn-${suffix}}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: own-nodes-${suffix}, resources: [{name: cpu, nominalQuota: 4}]}]
          - coveredResources: [memory]
            flavors: [{name: other-nodes-${suffix}, resources: [{name: memory, nominalQuota: 64Gi}]}]
          admissionChecksStrategy: {admissionChecks: [{name: clusters-${suffix}}]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: torn, namespace: ${namespace}}
        spec: {clusterQueue: torn-${suffix}}
        """);
    clusters.apply(
        clusters.manager(),
        clusters
            .scenario("jobs/01-small.yaml")
            .replace("name: small", "name: apart")
            .replace("queue-name: analysis", "queue-name: torn"));

    eventually(
        () ->
            assertThat(
                    clusters
                        .manager()
                        .events()
                        .v1()
                        .events()
                        .inNamespace(clusters.namespace())
                        .list()
                        .getItems())
                .anySatisfy(
                    event -> {
                      assertThat(event.getRegarding().getName()).startsWith("job-apart");
                      assertThat(event.getNote())
                          .isEqualTo(
                              "it got quota of this cluster and of others (flavors %s, %s); put the"
                                  + " resources of its ClusterQueue into one resource group",
                              clusters.name("other-nodes"), clusters.name("own-nodes"));
                    }));
    eventually(() -> assertThat(clusters.workload("apart").getStatus().admission()).isNull());
    assertThat(clusters.job("apart").getSpec().getSuspend()).isTrue();
    clusters.manager().resource(clusters.job("apart")).delete();
  }
}
