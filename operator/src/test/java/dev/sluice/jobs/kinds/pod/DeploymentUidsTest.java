package dev.sluice.jobs.kinds.pod;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.jobs.kinds.pod.Deployments.DeploymentUids;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.testing.PlayedApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** docs/pods.md#deployments: gate DeploymentJobUIDLabel. */
class DeploymentUidsTest {

  private static final String REPLICA_SETS =
      """
      {"kind": "ReplicaSetList", "apiVersion": "apps/v1", "metadata": {"resourceVersion": "5"}, "items": [
       {"metadata": {"namespace": "team", "name": "web-1", "uid": "rs-1", "resourceVersion": "4",
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web",
         "uid": "deployment-uid", "controller": true}]}},
       {"metadata": {"namespace": "team", "name": "alone", "uid": "rs-2", "resourceVersion": "5"}}]}
      """;

  private static CachedJob pod(String replicaSet, String uid, String parent) throws IOException {
    return CachedPodParser.of(
            new SinglePod(),
            new YAMLMapper()
                .readTree(
                    """
                    metadata:
                      namespace: team
                      name: web-1-x
                      uid: pod-uid
                      resourceVersion: "9"
                      creationTimestamp: "2026-03-01T10:00:00Z"
                      annotations: {kueue.x-k8s.io/pod-suspending-parent: %s}
                      ownerReferences:
                      - {apiVersion: apps/v1, kind: ReplicaSet, name: %s, uid: %s, controller: true}
                    spec: {containers: [{name: main}]}
                    """
                        .formatted(parent, replicaSet, uid)))
        .job();
  }

  /** Changes of 0.20, section 4: DeploymentJobUIDLabel. */
  @Test
  void thePodOfAReplicaSetIsThatOfItsDeployment() throws IOException {
    try (PlayedApi api = new PlayedApi();
        KubernetesClient client = api.client();
        DeploymentUids deployments =
            new DeploymentUids(
                new Reflectors(
                    client, InstantSource.system(), new Random(1), new ReadErrorLog()))) {
      api.play(
          asked ->
              asked.path().contains("/apis/apps/v1/replicasets")
                  ? new PlayedApi.Answer(200, REPLICA_SETS)
                  : new PlayedApi.Answer(404, "{}"));
      CachedJob pod = pod("web-1", "rs-1", "deployment");
      assertThat(deployments.of(pod)).as("before it is started").isEmpty();

      deployments.start();

      await().untilAsserted(() -> assertThat(deployments.of(pod)).contains("deployment-uid"));
      assertThat(deployments.of(pod("web-1", "earlier", "deployment"))).isEmpty();
      assertThat(deployments.of(pod("alone", "rs-2", "deployment"))).isEmpty();
      assertThat(DeploymentUids.isAwaited(pod)).isTrue();
      assertThat(DeploymentUids.isAwaited(pod("web-1", "rs-1", "statefulset"))).isFalse();
    }
  }
}
