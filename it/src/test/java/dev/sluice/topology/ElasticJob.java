package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.testing.TestCluster;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** An elastic Job in a queue of a {@link RackedCluster}. */
final class ElasticJob {

  private final TestCluster cluster;
  private final RackedCluster racked;
  private final String name;

  ElasticJob(TestCluster cluster, RackedCluster racked, String name) {
    this.cluster = cluster;
    this.racked = racked;
    this.name = name;
  }

  /** Makes it, of so many pods with so many CPUs each, which run until it is deleted. */
  ElasticJob submit(String queue, int pods, int cpus) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: %s}
          annotations: {kueue.x-k8s.io/elastic-job: "true"}
        spec:
          parallelism: %d
          completions: 100
          template:
            metadata: {annotations: {sluice.dev/run-for: "60m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "%d"}}}]
        """
            .formatted(name, queue, pods, cpus));
    return this;
  }

  void scale(int pods) {
    racked.jobs().patch(RackedCluster.JOB, name, "{'spec': {'parallelism': %d}}".formatted(pods));
  }

  /** Deletes it, and awaits that no Workload is left in the namespace. */
  void delete() {
    racked.jobs().delete(RackedCluster.JOB, name);
    RackedCluster.eventually(
        "an empty namespace",
        () -> {
          assertThat(racked.jobs().workloads()).isEmpty();
          assertThat(racked.jobs().pods()).isEmpty();
        });
  }

  /** Awaits that so many of its pods run, and no others are there without gates; their nodes. */
  Map<String, String> awaitPods(int pods) {
    Map<String, String> nodes = new TreeMap<>();
    RackedCluster.eventually(
        pods + " pods of " + name,
        () -> {
          nodes.clear();
          for (JsonNode pod : racked.jobs().pods()) {
            String job = pod.at("/metadata/labels/batch.kubernetes.io~1job-name").asText();
            if (job.equals(name) && pod.at("/spec/schedulingGates").isEmpty()) {
              nodes.put(pod.at("/metadata/name").asText(), pod.at("/spec/nodeName").asText());
              assertThat(pod.at("/status/phase").asText()).isEqualTo("Running");
            }
          }
          assertThat(nodes).as(() -> racked.jobs().workloads().toString()).hasSize(pods);
        });
    return nodes;
  }

  /** Awaits the slice of so many pods that has not finished. */
  String awaitSlice(int pods) {
    List<String> names = new ArrayList<>();
    RackedCluster.eventually(
        "a slice of " + pods,
        () -> {
          names.clear();
          for (JsonNode workload : racked.jobs().workloads()) {
            String slice = workload.at("/metadata/name").asText();
            if (workload.at("/spec/podSets/0/count").asInt() == pods
                && !racked.condition(slice, "Finished").path("status").asText().equals("True")) {
              names.add(slice);
            }
          }
          assertThat(names).hasSize(1);
        });
    return names.getFirst();
  }
}
