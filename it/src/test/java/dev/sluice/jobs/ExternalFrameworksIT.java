package dev.sluice.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A kind that another controller queues, on a real control plane; the test is that controller. */
@OperatorTest(
    configuration =
        "integrations: {frameworks: [batch/job], externalFrameworks: [Line.v1.example.test]}")
@Tag(BuildBreadth.NIGHTLY)
class ExternalFrameworksIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String LINE = "example.test/v1/Line";
  private static final String JOB = "batch/v1/Job";
  private static final String SUBMITTED = "labels: {kueue.x-k8s.io/queue-name: lq}";

  private static void define(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: lines.example.test}
        spec:
          group: example.test
          scope: Namespaced
          names: {kind: Line, plural: lines, singular: line, listKind: LineList}
          versions:
          - name: v1
            served: true
            storage: true
            schema:
              openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
        """);
  }

  private static String job(String name, String metadata) {
    return """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, %s}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: 1s}}
            spec:
              restartPolicy: Never
              containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """
        .formatted(name, metadata);
  }

  private static String ownedBy(String uid) {
    return "ownerReferences: [{apiVersion: example.test/v1, kind: Line, name: outer, uid: %s, controller: true}]"
        .formatted(uid);
  }

  /** The API server asks the webhooks as for a real creation, and creates nothing. */
  private static boolean isSuspendedAtCreation(TestCluster cluster, String job) {
    Job tried =
        cluster
            .client()
            .resource(cluster.client().getKubernetesSerialization().unmarshal(job, Job.class))
            .inNamespace(cluster.namespace())
            .dryRun()
            .create();
    return Boolean.TRUE.equals(tried.getSpec().getSuspend());
  }

  @Test
  void jobsBelowItsJobsAreLeftAloneAndItsWorkloadsAreEvicted(TestCluster cluster) {
    QueuedJobs api = new QueuedJobs(cluster);
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1).withLabel("pool", "spot"));
    define(cluster);
    api.givenQueues(1);
    await("the kind is served")
        .atMost(LIMIT)
        .ignoreExceptions()
        .until(
            () ->
                cluster.applyText(
                    "apiVersion: example.test/v1\nkind: Line\nmetadata: {name: outer, %s}\n"
                        .formatted(SUBMITTED)),
            applied -> !applied.isEmpty());
    String owner = ownedBy(api.get(LINE, "outer").at("/metadata/uid").asText());
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: line-outer, %s}
        spec:
          queueName: lq
          podSets:
          - name: main
            template: {spec: {containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]}}
        """
            .formatted(owner));
    api.awaitCondition(QueuedJobs.WORKLOAD, "line-outer", "Admitted", "True");

    String child = job("child", SUBMITTED + ", " + owner);
    await("the operator knows the owner")
        .atMost(LIMIT)
        .until(() -> !isSuspendedAtCreation(cluster, child));
    assertThat(isSuspendedAtCreation(cluster, job("stranger", SUBMITTED))).isTrue();
    cluster.applyText(child);
    api.awaitCondition(JOB, "child", "Complete", "True");
    assertThat(api.workloads())
        .extracting(workload -> workload.at("/metadata/name").asText())
        .isEqualTo(List.of("line-outer"));

    cluster.applyText(
        job(
            "high",
            SUBMITTED.replace(
                "}", ", kueue.x-k8s.io/priority-class: " + cluster.name("high") + "}")));
    api.awaitCondition(QueuedJobs.WORKLOAD, "line-outer", "Evicted", "True");
    api.delete(QueuedJobs.WORKLOAD, "line-outer");
    api.awaitCondition(JOB, "high", "Complete", "True");
  }

  /** An elastic Workload of 1-CPU pods, of nobody. */
  private static void slice(TestCluster cluster, String name, int pods, String replaced) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata:
          name: %s
          annotations: {kueue.x-k8s.io/elastic-job: "true"%s}
        spec:
          queueName: lq
          priority: 10
          podSets:
          - name: main
            count: %d
            template: {spec: {restartPolicy: Never, containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]}}
        """
            .formatted(
                name,
                replaced.isEmpty()
                    ? ""
                    : ", kueue.x-k8s.io/workload-slice-replacement-for: "
                        + cluster.namespace()
                        + "/"
                        + replaced,
                pods));
  }

  /** Whoever makes elastic Workloads without a Job replaces and shrinks them. */
  @Test
  void elasticWorkloadsOfNobodyGrowPreemptAndShrink(TestCluster cluster) {
    QueuedJobs api = new QueuedJobs(cluster);
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1).withLabel("pool", "spot"));
    api.givenQueues(5);
    slice(cluster, "small", 2, "");
    api.awaitCondition(QueuedJobs.WORKLOAD, "small", "Admitted", "True");
    cluster.applyText(job("low", SUBMITTED).replace("1s", "60m"));
    String low = api.workloadOf(JOB, "low");
    api.awaitCondition(QueuedJobs.WORKLOAD, low, "Admitted", "True");
    api.awaitUsage("3");

    slice(cluster, "large", 5, "small");
    api.awaitCondition(QueuedJobs.WORKLOAD, low, "Preempted", "True");
    api.awaitCondition(QueuedJobs.WORKLOAD, "large", "Admitted", "True");
    api.awaitCondition(QueuedJobs.WORKLOAD, "small", "Finished", "True");
    assertThat(api.message(QueuedJobs.WORKLOAD, "small", "Finished")).contains("large");
    api.awaitUsage("5");
    api.awaitCondition(QueuedJobs.WORKLOAD, low, "QuotaReserved", "False");

    api.replace(QueuedJobs.WORKLOAD, "large", "/spec/podSets/0/count", "4");
    api.awaitCondition(QueuedJobs.WORKLOAD, low, "Admitted", "True");
    api.awaitUsage("5");

    // Two of the four pods have succeeded; then the job needs all of them again.
    api.patchStatus(
        QueuedJobs.WORKLOAD,
        "large",
        "{'status': {'reclaimablePods': [{'name': 'main', 'count': 2}]}}");
    api.awaitUsage("3");
    api.patchStatus(QueuedJobs.WORKLOAD, "large", "{'status': {'reclaimablePods': []}}");
    api.awaitUsage("5");
  }

  /** Without the annotation, too, a lower count gives quota back; a higher one is refused. */
  @Test
  void countsOfAWorkloadOfNobodyAreLoweredWithoutTheAnnotation(TestCluster cluster) {
    QueuedJobs api = new QueuedJobs(cluster);
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 1).withLabel("pool", "spot"));
    api.givenQueues(5);
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: plain}
        spec:
          queueName: lq
          podSets:
          - name: main
            count: 5
            template: {spec: {restartPolicy: Never, containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]}}
        """);
    api.awaitCondition(QueuedJobs.WORKLOAD, "plain", "Admitted", "True");
    api.awaitUsage("5");

    api.patchStatus(
        QueuedJobs.WORKLOAD,
        "plain",
        "{'status': {'reclaimablePods': [{'name': 'main', 'count': 2}]}}");
    api.awaitUsage("3");
    api.replace(QueuedJobs.WORKLOAD, "plain", "/spec/podSets/0/count", "3");
    api.awaitUsage("1");
    api.patchStatus(
        QueuedJobs.WORKLOAD,
        "plain",
        "{'status': {'reclaimablePods': [{'name': 'main', 'count': 1}]}}");
    api.awaitUsage("2");
    assertThatThrownBy(
            () -> api.replace(QueuedJobs.WORKLOAD, "plain", "/spec/podSets/0/count", "4"))
        .hasMessageContaining("may only be lowered while quota is reserved, from 3");
  }
}
