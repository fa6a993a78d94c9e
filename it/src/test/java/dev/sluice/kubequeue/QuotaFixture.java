package dev.sluice.kubequeue;

import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Queues with the marks of queues that were made from a quota, for tests that share a cluster. */
final class QuotaFixture {

  private QuotaFixture() {}

  /** ClusterQueues of 2 CPUs for the test's namespace, as if they were made from a quota tree. */
  static void givenQuotas(TestCluster cluster, String... names) {
    for (String name : names) {
      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ClusterQueue
          metadata:
            name: "root-%1$s-${suffix}"
            annotations:
              sluice.dev/source-kind: ElasticQuotaTree
              sluice.dev/source-namespace: kube-system
              sluice.dev/source-name: elasticquotatree
              sluice.dev/source-path: root/%1$s-${suffix}
          spec:
            namespaceSelector:
              matchExpressions:
              - {key: kubernetes.io/metadata.name, operator: In, values: ["${namespace}"]}
            resourceGroups:
            - coveredResources: [cpu]
              flavors:
              - name: "flavor-${suffix}"
                resources: [{name: cpu, nominalQuota: "2"}]
          """
              .formatted(name));
    }
  }

  /** Lets jobs of other quotas choose the queue of a quota. */
  static void list(TestCluster cluster, String quota, String... others) {
    String names =
        Stream.of(others)
            .map(name -> "root/" + cluster.name(name))
            .collect(Collectors.joining(","));
    annotate(cluster, quota, "'sluice.dev/available-quota': '" + names + "'");
  }

  /** Adds annotations, as JSON with single quotes, to the queue of a quota. */
  static void annotate(TestCluster cluster, String quota, String annotations) {
    patch(cluster, quota, "{'metadata': {'annotations': {%s}}}".formatted(annotations));
  }

  private static void patch(TestCluster cluster, String quota, String json) {
    cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "ClusterQueue")
        .withName(cluster.name("root-" + quota))
        .patch(PatchContext.of(PatchType.JSON_MERGE), json.replace('\'', '"'));
  }

  /** Has the Workloads of a quota need a check that nobody answers. */
  static void requireCheck(TestCluster cluster, String quota) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: AdmissionCheck
        metadata: {name: "check-${suffix}"}
        spec: {controllerName: example.com/till}
        """);
    cluster
        .client()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "AdmissionCheck")
        .withName(cluster.name("check"))
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status": {"conditions": [{"type": "Active", "status": "True", "reason": "Open",
            "message": "", "lastTransitionTime": "2026-03-01T10:00:00Z"}]}}
            """);
    patch(
        cluster,
        quota,
        "{'spec': {'admissionChecksStrategy': {'admissionChecks': [{'name': '%s'}]}}}"
            .formatted(cluster.name("check")));
  }

  /** The LocalQueue of the test's namespace for a quota. */
  static void givenLocalQueue(TestCluster cluster, String quota) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata:
          name: "root-%1$s-${suffix}"
          annotations:
            sluice.dev/source-kind: ElasticQuotaTree
            sluice.dev/source-namespace: kube-system
            sluice.dev/source-name: elasticquotatree
            sluice.dev/source-path: root/%1$s-${suffix}
        spec: {clusterQueue: "root-%1$s-${suffix}"}
        """
            .formatted(quota));
  }
}
