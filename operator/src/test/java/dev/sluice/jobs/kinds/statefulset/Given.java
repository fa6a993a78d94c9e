package dev.sluice.jobs.kinds.statefulset;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.jobs.kinds.pod.CachedPod;
import dev.sluice.jobs.kinds.pod.CachedPodParser;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** StatefulSets, their pods and their Workloads, written down. */
final class Given {

  static final YAMLMapper YAML = new YAMLMapper();

  private static final String SET =
      """
      apiVersion: apps/v1
      kind: StatefulSet
      metadata:
        name: web
        namespace: team
        uid: 4b5b3c2e-0000-4000-8000-000000000001
        resourceVersion: "10"
        labels: {kueue.x-k8s.io/queue-name: serving}
        annotations: {}
      spec:
        replicas: 3
        template:
          metadata: {annotations: {kueue.x-k8s.io/pod-suspending-parent: statefulset}}
          spec: {containers: [{name: c, image: "one:1", resources: {requests: {cpu: "1"}}}]}
      status: {replicas: 3, currentRevision: web-1, updateRevision: web-1}
      """;

  private static final String POD =
      """
      apiVersion: v1
      kind: Pod
      metadata:
        name: web-0
        namespace: team
        uid: pod-uid
        resourceVersion: "20"
        labels: {controller-revision-hash: web-1, apps.kubernetes.io/pod-index: "0"}
        annotations: {kueue.x-k8s.io/pod-suspending-parent: statefulset}
        ownerReferences:
        - apiVersion: apps/v1
          kind: StatefulSet
          name: web
          uid: 4b5b3c2e-0000-4000-8000-000000000001
          controller: true
      spec:
        schedulingGates: [{name: kueue.x-k8s.io/admission}, {name: example.com/other}]
        containers: [{name: c}]
      status: {phase: Pending}
      """;

  private Given() {}

  /** One place in an object and what is there instead; the value null removes it. */
  record Edit(String pointer, String yaml) {}

  static Edit with(String pointer, String yaml) {
    return new Edit(pointer, yaml);
  }

  static JsonNode yaml(String text) {
    try {
      return YAML.readTree(text);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static JsonNode edited(JsonNode object, Edit... edits) {
    for (Edit edit : edits) {
      int slash = edit.pointer().lastIndexOf('/');
      ObjectNode parent = (ObjectNode) object.at(edit.pointer().substring(0, slash));
      String field = edit.pointer().substring(slash + 1).replace("~1", "/");
      JsonNode value = yaml(edit.yaml());
      if (value.isNull()) {
        parent.remove(field);
      } else {
        parent.set(field, value);
      }
    }
    return object;
  }

  static CachedStatefulSet set(Edit... edits) {
    return new StatefulSets().view(edited(yaml(SET), edits));
  }

  static CachedPod pod(Edit... edits) {
    return CachedPodParser.of(new SinglePod(), edited(yaml(POD), edits));
  }

  /** A Workload as it was created, with changes. */
  static CachedWorkload workload(JsonNode created, Edit... edits) {
    ObjectNode object = created.deepCopy();
    ObjectNode metadata = object.withObjectProperty("metadata");
    metadata.put("uid", "workload-uid").put("resourceVersion", "30").put("generation", 1);
    metadata.put("creationTimestamp", "2026-03-01T10:00:00Z");
    object.putObject("status").putArray("conditions");
    try {
      return new WorkloadParser()
          .parse(edited(object, edits).toString().getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
