package dev.sluice.checks.multikueue;

import static dev.sluice.checks.multikueue.MultiClusterFixture.NAMESPACE;
import static dev.sluice.checks.multikueue.MultiClusterFixture.apply;
import static dev.sluice.checks.multikueue.MultiClusterFixture.eventually;
import static dev.sluice.checks.multikueue.MultiClusterFixture.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.FlavorUsage;
import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.controlplane.FakeNodes;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import dev.sluice.testing.Workload;
import io.fabric8.kubernetes.api.model.batch.v1.JobCondition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.Isolated;

/** The manager, under the name here, is one of the clusters that its jobs run in. */
@ControlPlaneTest(exclusive = true)
@Execution(ExecutionMode.SAME_THREAD)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Isolated("needs the processors for itself")
class LocalWorkerIT {

  @SuppressWarnings("NullAway.Init") // made before all tests
  private MultiClusterFixture clusters;

  @BeforeAll
  void start(ControlPlane controlPlane, TestCluster cluster) {
    clusters = new MultiClusterFixture(cluster.client());
    clusters.operator("manager", cluster.kubeconfig(), controlPlane.logs(), "");
    FakeNodes.of(NodeGroup.plentiful("own", 1))
        .forEach(node -> clusters.manager().resource(node).create());
    apply(
        clusters.joinAndOperate("remote").client(),
        text("/scenarios/multi-cluster/remote/setup.yaml"));
    apply(clusters.manager(), text("local-worker.yaml"));
    clusters.awaitConnected(2);
  }

  @AfterAll
  void stop() throws Exception {
    clusters.close();
  }

  /** Two pods of one CPU each: the manager has room for one such job. */
  private void submit(String name, String runFor, String annotations) {
    apply(
        clusters.manager(),
        text("/scenarios/multi-cluster/jobs/01-small.yaml")
            .replace("name: small", "name: " + name)
            .replace("  labels:\n", "  annotations: {" + annotations + "}\n  labels:\n")
            .replace(
                "  template:\n",
                "  template:\n    metadata: {annotations: {sluice.dev/run-for: "
                    + runFor
                    + "}}\n"));
  }

  private static int pods(KubernetesClient client, String job) {
    return client.pods().inNamespace(NAMESPACE).withLabel("job-name", job).list().getItems().size();
  }

  private Map<String, String> reservedCpu() {
    return clusters
        .manager()
        .resources(ClusterQueue.class)
        .withName("everywhere")
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

  private void awaitComplete(String job) {
    eventually(
        () ->
            assertThat(clusters.job(job).getStatus().getConditions())
                .filteredOn(it -> it.getStatus().equals("True"))
                .extracting(JobCondition::getType)
                .contains("Complete"));
    assertThat(clusters.job(job).getStatus().getSucceeded()).isEqualTo(2);
  }

  private void awaitNothingLeft(String job) {
    eventually(
        () -> {
          assertThat(
                  clusters
                      .worker("remote")
                      .batch()
                      .v1()
                      .jobs()
                      .inNamespace(NAMESPACE)
                      .withName(job)
                      .get())
              .isNull();
          assertThat(
                  clusters
                      .worker("remote")
                      .resources(Workload.class)
                      .inNamespace(NAMESPACE)
                      .withName(clusters.workload(job).getMetadata().getName())
                      .get())
              .isNull();
        });
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
    submit("at-home", "20s", "");
    eventually(() -> assertThat(clusters.job("at-home").getStatus().getActive()).isEqualTo(2));
    submit("away", "10s", "");

    eventually(
        () -> {
          assertThat(clusters.cluster("away")).isEqualTo("remote");
          assertThat(remoteStatus("away")).contains("\"active\":2");
        });
    assertThat(clusters.cluster("at-home")).isEmpty();
    assertThat(clusters.checkMessage("at-home"))
        .isEqualTo("The workload runs in this cluster, which is worker cluster \"here\"");
    assertThat(clusters.job("at-home").getSpec().getManagedBy()).isNull();
    assertThat(pods(clusters.manager(), "at-home")).isEqualTo(2);
    assertThat(pods(clusters.worker("remote"), "at-home")).isZero();
    assertThat(clusters.job("away").getSpec().getSuspend()).isTrue();
    assertThat(pods(clusters.manager(), "away")).isZero();
    eventually(
        () -> assertThat(reservedCpu()).isEqualTo(Map.of("own-nodes", "2", "other-nodes", "2")));
    assertThat(
            clusters
                .worker("remote")
                .resources(Workload.class)
                .inNamespace(NAMESPACE)
                .list()
                .getItems())
        .hasSize(1);

    awaitComplete("away");
    eventually(() -> assertThat(remoteStatus("away")).isEmpty());
    awaitNothingLeft("away");
    awaitComplete("at-home");
    assertThat(pods(clusters.manager(), "away")).isZero();
    eventually(
        () -> assertThat(reservedCpu()).isEqualTo(Map.of("own-nodes", "0", "other-nodes", "0")));
  }

  @Test
  void aJobThatMayNotRunHereGetsNoQuotaOfThisCluster() {
    submit(
        "must-go",
        "1s",
        "sluice.dev/placement-cluster-selector: kubernetes.io/metadata.name!=here");

    awaitComplete("must-go");
    assertThat(pods(clusters.manager(), "must-go")).isZero();
    awaitNothingLeft("must-go");
  }

  @Test
  void aJobElsewhereThatIsSentBackHoldsItsQuotaUntilItHasStoppedThere() {
    submit(
        "called-back",
        "30s",
        "sluice.dev/placement-cluster-selector: kubernetes.io/metadata.name!=here");
    eventually(() -> assertThat(remoteStatus("called-back")).contains("\"active\":2"));

    activate("called-back", false);

    eventually(
        () -> {
          assertThat(clusters.workload("called-back").getStatus().admission()).isNull();
          assertThat(remoteStatus("called-back")).isEmpty();
        });
    awaitNothingLeft("called-back");
    assertThat(pods(clusters.worker("remote"), "called-back")).isZero();
    activate("called-back", true);
    awaitComplete("called-back");
  }

  @Test
  void aJobElsewhereWhoseWorkloadIsDeletedStopsThereAndQueuesAnew() {
    submit(
        "lost-track",
        "12s",
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
                        .inNamespace(NAMESPACE)
                        .list()
                        .getItems())
                .noneMatch(it -> it.getMetadata().getUid().equals(first)));
    awaitComplete("lost-track");
    awaitNothingLeft("lost-track");
    assertThat(remoteStatus("lost-track")).isEmpty();
  }

  @Test
  void aJobThatWouldGetQuotaOfBothSidesIsRejected() {
    apply(
        clusters.manager(),
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: torn}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: own-nodes, resources: [{name: cpu, nominalQuota: 4}]}]
          - coveredResources: [memory]
            flavors: [{name: other-nodes, resources: [{name: memory, nominalQuota: 64Gi}]}]
          admissionChecksStrategy: {admissionChecks: [{name: clusters}]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: torn, namespace: physics}
        spec: {clusterQueue: torn}
        """);
    apply(
        clusters.manager(),
        text("/scenarios/multi-cluster/jobs/01-small.yaml")
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
                        .inNamespace(NAMESPACE)
                        .list()
                        .getItems())
                .anySatisfy(
                    event -> {
                      assertThat(event.getRegarding().getName()).startsWith("job-apart");
                      assertThat(event.getNote())
                          .isEqualTo(
                              "it got quota of this cluster and of others (flavors other-nodes,"
                                  + " own-nodes); put the resources of its ClusterQueue into one"
                                  + " resource group");
                    }));
    eventually(() -> assertThat(clusters.workload("apart").getStatus().admission()).isNull());
    assertThat(clusters.job("apart").getSpec().getSuspend()).isTrue();
    clusters.manager().resource(clusters.job("apart")).delete();
  }

  private void activate(String job, boolean active) {
    clusters
        .manager()
        .resource(clusters.workload(job))
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"active\":" + active + "}}");
  }
}
