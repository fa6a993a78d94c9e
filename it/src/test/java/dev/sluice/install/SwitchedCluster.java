package dev.sluice.install;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a test sees of a cluster whose operator is exchanged, and the quota that it sets there. */
record SwitchedCluster(TestCluster cluster) {

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  /** Gives the pool so many CPUs, written as a quantity. */
  void setQuota(String cpus) {
    cluster
        .client()
        .genericKubernetesResources(AuditedKind.CLUSTER_QUEUE.context())
        .withName("pool")
        .patch(
            MERGE,
            """
            {"spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
              {"name": "spot", "resources": [{"name": "cpu", "nominalQuota": "%s"}]}]}]}}
            """
                .formatted(cpus));
  }

  /** The Job, which exists. */
  Job job(String name) {
    return cluster
        .client()
        .batch()
        .v1()
        .jobs()
        .inNamespace(cluster.namespace())
        .withName(name)
        .require();
  }

  /** Labels and annotations that another operator of the API doesn't know. */
  static Set<String> foreignKeys(HasMetadata object) {
    return Stream.of(object.getMetadata().getLabels(), object.getMetadata().getAnnotations())
        .filter(Objects::nonNull)
        .flatMap(map -> map.keySet().stream())
        .filter(key -> key.contains("sluice.dev/"))
        .collect(Collectors.toSet());
  }

  /** Who holds the lease of operators; empty if nobody does. */
  String holder() {
    return Objects.requireNonNullElse(
        cluster
            .client()
            .leases()
            .inNamespace(InstallManifests.NAMESPACE)
            .withName("c1f6bfd2.kueue.x-k8s.io")
            .require()
            .getSpec()
            .getHolderIdentity(),
        "");
  }

  /** UIDs of the pods that run, by name. */
  Map<String, String> runningPods() {
    return cluster.client().pods().inNamespace(cluster.namespace()).list().getItems().stream()
        .filter(pod -> "Running".equals(pod.getStatus().getPhase()))
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .collect(Collectors.toMap(pod -> pod.getMetadata().getName(), SwitchedCluster::uid));
  }

  private static String uid(Pod pod) {
    return pod.getMetadata().getUid();
  }

  /** Names of the Workloads with this prefix that have quota. */
  List<String> admitted(String prefix) {
    return new EarlierOperator(cluster)
        .workloads().stream()
            .filter(workload -> workload.getMetadata().getName().startsWith(prefix))
            .filter(workload -> workload.get("status", "admission") != null)
            .map(workload -> workload.getMetadata().getName())
            .toList();
  }

  /** The pool. */
  JsonNode pool() {
    return new ObjectMapper()
        .valueToTree(
            cluster
                .client()
                .genericKubernetesResources(AuditedKind.CLUSTER_QUEUE.context())
                .withName("pool")
                .require());
  }

  /** The Workloads that wait from before the exchange, in the order of the visibility API. */
  List<String> waiting() throws IOException {
    String summary =
        cluster
            .client()
            .raw(
                "/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/pool/pendingworkloads"
                    + "?limit=100000");
    return new ObjectMapper()
        .readTree(summary).path("items").findValuesAsText("name").stream()
            .filter(name -> name.startsWith("job-waits-"))
            .toList();
  }
}
