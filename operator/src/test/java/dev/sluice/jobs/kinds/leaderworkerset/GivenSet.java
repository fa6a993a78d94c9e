package dev.sluice.jobs.kinds.leaderworkerset;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.GivenObject;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSets.CachedLeaderWorkerSet;
import dev.sluice.jobs.kinds.pod.CachedPod;
import dev.sluice.jobs.kinds.pod.CachedPodParser;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** LeaderWorkerSets and their pods, written down. */
final class GivenSet {

  private static final ObjectNode SET =
      GivenObject.yaml(
          """
          apiVersion: leaderworkerset.x-k8s.io/v1
          kind: LeaderWorkerSet
          metadata:
            name: lws
            namespace: team
            uid: 4b5b3c2e-0000-4000-8000-000000000001
            resourceVersion: "10"
            labels: {kueue.x-k8s.io/queue-name: serving}
          spec:
            replicas: 2
            leaderWorkerTemplate:
              size: 3
              leaderTemplate:
                metadata: {annotations: {kueue.x-k8s.io/pod-suspending-parent: leaderworkerset.x-k8s.io/leaderworkerset}}
                spec: {containers: [{name: l, image: "one:1", resources: {requests: {cpu: "1"}}}]}
              workerTemplate:
                metadata:
                  labels: {leaderworkerset.sigs.k8s.io/name: lws, leaderworkerset.sigs.k8s.io/x: "y"}
                  annotations:
                    kueue.x-k8s.io/pod-suspending-parent: leaderworkerset.x-k8s.io/leaderworkerset
                    kueue.x-k8s.io/podset-required-topology: rack
                spec: {containers: [{name: w, image: "one:1", resources: {requests: {cpu: "2"}}}]}
          """);

  private GivenSet() {}

  static ObjectNode object(String changes) {
    return GivenObject.with(SET, changes);
  }

  static CachedLeaderWorkerSet set(String changes) {
    return new LeaderWorkerSets().view(object(changes));
  }

  /** A Workload as it was created, with changes. */
  static CachedWorkload workload(ObjectNode created, String changes) {
    ObjectNode object = GivenObject.with(created, changes);
    ObjectNode metadata = object.withObjectProperty("metadata");
    metadata
        .put("uid", "uid-" + metadata.path("name").asText())
        .put("resourceVersion", "30")
        .put("generation", 1)
        .put("creationTimestamp", "2026-03-01T10:00:00Z");
    try {
      return new WorkloadParser().parse(object.toString().getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static CachedPod pod(int group, int index, String changes) {
    String name = "lws-" + group + (index == 0 ? "" : "-" + index);
    return CachedPodParser.of(
        new SinglePod(),
        GivenObject.with(
            GivenObject.yaml(
                """
                apiVersion: v1
                kind: Pod
                metadata:
                  name: %s
                  namespace: team
                  uid: pod-%s
                  resourceVersion: "20"
                  labels:
                    leaderworkerset.sigs.k8s.io/name: lws
                    leaderworkerset.sigs.k8s.io/group-index: "%d"
                    leaderworkerset.sigs.k8s.io/worker-index: "%d"
                    leaderworkerset.sigs.k8s.io/template-revision-hash: old
                  annotations:
                    kueue.x-k8s.io/pod-suspending-parent: leaderworkerset.x-k8s.io/leaderworkerset
                spec:
                  schedulingGates: [{name: kueue.x-k8s.io/admission}, {name: example.com/other}]
                  containers: [{name: c}]
                status: {phase: Pending}
                """
                    .formatted(name, name, group, index)),
            changes));
  }
}
