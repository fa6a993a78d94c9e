package dev.sluice.accounting;

import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedJobSet;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;

/** A JobSet of one pod, and the Job that its controller makes. */
final class SetOfOneJob {

  /** The name of its Job. */
  static final String CHILD = "set-main-0";

  /** The name of the set. */
  static final String SET = "set";

  /** Its version of the API. */
  static final String API_VERSION = "jobset.x-k8s.io/v1alpha2";

  private static final String KIND = API_VERSION + "/JobSet";

  private SetOfOneJob() {}

  /** Submits the set; returns the name of its Workload when it is admitted. */
  static String admitted(TestCluster cluster, QueuedJobs api) {
    submit(cluster, api, "");
    String workload = api.workloadOf(KIND, SET);
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "Admitted", "True");
    return workload;
  }

  /** Submits the set with the name of a Workload that doesn't exist; returns its UID. */
  static String waiting(TestCluster cluster, QueuedJobs api) {
    submit(cluster, api, ", kueue.x-k8s.io/prebuilt-workload-name: nowhere");
    return uid(api);
  }

  private static String uid(QueuedJobs api) {
    return api.get(KIND, SET).at("/metadata/uid").asText();
  }

  private static void submit(TestCluster cluster, QueuedJobs api, String labels) {
    PlayedDefinitions.install(cluster.client(), new PlayedJobSet().kind());
    api.givenQueues(50);
    cluster.applyText(
        """
        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        metadata: {name: set, labels: {kueue.x-k8s.io/queue-name: lq%s}}
        spec:
          replicatedJobs:
          - name: main
            template:
              spec:
                template:
                  spec:
                    restartPolicy: Never
                    containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(labels));
  }

  /** Makes the Job as the controller of the set does, with so many pods at a time. */
  static void makeChild(TestCluster cluster, QueuedJobs api, int parallelism) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          ownerReferences:
          - {apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: set, uid: %s, controller: true}
        spec:
          parallelism: %d
          completions: 100
          template:
            metadata: {annotations: {sluice.dev/run-for: "60m"}}
            spec:
              restartPolicy: Never
              containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(CHILD, uid(api), parallelism));
  }
}
