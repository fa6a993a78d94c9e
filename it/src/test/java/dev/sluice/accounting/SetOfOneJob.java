package dev.sluice.accounting;

import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedJobSet;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;

/** A JobSet that is admitted with one pod, and the Job that its controller makes. */
final class SetOfOneJob {

  /** The name of its Job. */
  static final String CHILD = "set-main-0";

  private static final String KIND = "jobset.x-k8s.io/v1alpha2/JobSet";

  private SetOfOneJob() {}

  /** Submits the set; returns the name of its Workload when it is admitted. */
  static String admitted(TestCluster cluster, QueuedJobs api) {
    PlayedDefinitions.install(cluster.client(), new PlayedJobSet().kind());
    api.givenQueues(50);
    cluster.applyText(
        """
        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        metadata: {name: set, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          replicatedJobs:
          - name: main
            template:
              spec:
                template:
                  spec:
                    restartPolicy: Never
                    containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        """);
    String workload = api.workloadOf(KIND, "set");
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "Admitted", "True");
    return workload;
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
            .formatted(CHILD, api.get(KIND, "set").at("/metadata/uid").asText(), parallelism));
  }
}
