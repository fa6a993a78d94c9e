package dev.sluice.jobs.kinds.pod;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.api.KueueConstants;
import java.time.Instant;

/**
 * A pod in the words of a test: gated, as the webhook leaves it, in queue training, with one CPU.
 */
final class GivenPod {

  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private final ObjectNode object;

  private GivenPod(String name) {
    this.object =
        yaml(
            """
            apiVersion: v1
            kind: Pod
            metadata:
              name: %s
              namespace: team
              uid: uid-of-%s
              resourceVersion: "100"
              creationTimestamp: "2026-03-01T10:00:00Z"
              labels: {kueue.x-k8s.io/queue-name: training, kueue.x-k8s.io/managed: "true"}
              annotations: {kueue.x-k8s.io/role-hash: worker}
              finalizers: [kueue.x-k8s.io/managed, other.example/finalizer]
            spec:
              schedulingGates:
              - name: kueue.x-k8s.io/admission
              - name: kueue.x-k8s.io/topology
              containers:
              - name: main
                image: registry.example/work:1
                resources: {requests: {cpu: "1"}}
            status: {phase: Pending}
            """
                .formatted(name, name));
  }

  private static ObjectNode yaml(String yaml) {
    try {
      return (ObjectNode) YAML.readTree(yaml);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** A single pod. */
  static GivenPod pod(String name) {
    return new GivenPod(name);
  }

  /** A pod of group sample, which has so many. */
  static GivenPod member(String name, int total) {
    return pod(name)
        .annotation(KueueConstants.POD_GROUP_NAME, "sample")
        .annotation(KueueConstants.POD_GROUP_TOTAL_COUNT, Integer.toString(total));
  }

  GivenPod label(String key, String value) {
    object.withObject("/metadata/labels").put(key, value);
    return this;
  }

  GivenPod annotation(String key, String value) {
    object.withObject("/metadata/annotations").put(key, value);
    return this;
  }

  GivenPod without(String key) {
    object.withObject("/metadata/annotations").remove(key);
    object.withObject("/metadata/labels").remove(key);
    return this;
  }

  GivenPod role(String role) {
    return annotation(KueueConstants.ROLE_HASH, role);
  }

  /** Created so many minutes later than others. */
  GivenPod later(int minutes) {
    Instant time = Instant.parse("2026-03-01T10:00:00Z").plusSeconds(60L * minutes);
    object.withObject("/metadata").put("creationTimestamp", time.toString());
    return this;
  }

  /** Without its gates, and with a node. */
  GivenPod started() {
    object.withObject("/spec").remove("schedulingGates");
    object.withObject("/spec").put("nodeName", "node-1");
    return this;
  }

  /** Without its gates, before it has a node. */
  GivenPod ungated() {
    object.withObject("/spec").remove("schedulingGates");
    return this;
  }

  GivenPod running() {
    return started().phase("Running").ready(true);
  }

  GivenPod phase(String phase) {
    object.withObject("/status").put("phase", phase);
    return this;
  }

  GivenPod ready(boolean ready) {
    return condition("Ready", ready ? "True" : "False", "2026-03-01T10:30:00Z");
  }

  GivenPod condition(String type, String status, String since) {
    object
        .withObject("/status")
        .withArrayProperty("conditions")
        .addObject()
        .put("type", type)
        .put("status", status)
        .put("lastTransitionTime", since);
    return this;
  }

  /** Ended, at a minute past eleven. */
  GivenPod ended(String phase, int minute) {
    started().phase(phase);
    return condition("Ready", "False", "2026-03-01T11:%02d:00Z".formatted(minute));
  }

  /** Being deleted, due at this time; the time of every test is noon. */
  GivenPod deletedBy(String time) {
    object.withObject("/metadata").put("deletionTimestamp", "2026-03-01T%s:00Z".formatted(time));
    return this;
  }

  GivenPod withoutFinalizer() {
    object.withObject("/metadata").remove("finalizers");
    return this;
  }

  /** With a field of its spec, in YAML. */
  GivenPod spec(String field, String value) {
    try {
      object.withObject("/spec").set(field, YAML.readTree(value));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
    return this;
  }

  ObjectNode object() {
    return object;
  }

  CachedPod view() {
    return CachedPodParser.of(new SinglePod(), object);
  }
}
