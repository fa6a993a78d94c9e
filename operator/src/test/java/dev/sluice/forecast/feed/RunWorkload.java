package dev.sluice.forecast.feed;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** A Workload of a Job, with conditions at minutes after {@link #START}. */
final class RunWorkload {

  static final Instant START = Instant.parse("2026-03-01T10:00:00Z");

  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());
  private static final WorkloadParser PARSER = new WorkloadParser();

  private final ObjectNode object;

  private RunWorkload(ObjectNode object) {
    this.object = object;
  }

  static RunWorkload named(String job) {
    try {
      return new RunWorkload(
          (ObjectNode)
              YAML.readTree(
                  """
                  metadata:
                    name: job-%1$s
                    namespace: team
                    uid: uid-%1$s
                    resourceVersion: "100"
                    creationTimestamp: "2026-03-01T10:00:00Z"
                    annotations: {}
                    ownerReferences:
                    - {apiVersion: batch/v1, kind: Job, name: %1$s, uid: job-%1$s, controller: true}
                  spec:
                    queueName: gpu
                    podSets:
                    - {name: main, count: 2, template: {spec: {containers: [
                        {name: c, image: i, resources: {requests: {cpu: "1"}}}]}}}
                  status: {conditions: []}
                  """
                      .formatted(job)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  RunWorkload with(String image, String cpu) {
    ObjectNode container = (ObjectNode) object.at("/spec/podSets/0/template/spec/containers/0");
    container.put("image", image);
    container.withObject("/resources/requests").put("cpu", cpu);
    return this;
  }

  /** With so many containers. */
  RunWorkload containers(int count) {
    ArrayNode containers = (ArrayNode) object.at("/spec/podSets/0/template/spec/containers");
    while (containers.size() < count) {
      containers.addObject().put("name", "c" + containers.size());
    }
    return this;
  }

  RunWorkload ofNamespace(String namespace) {
    object.withObject("/metadata").put("namespace", namespace);
    return this;
  }

  RunWorkload annotated(String key, String value) {
    object.withObject("/metadata/annotations").put(key, value);
    return this;
  }

  /** The Workload of a job whose label names its user. */
  RunWorkload of(String user) {
    object.withObject("/metadata/labels").put("sluice.dev/user", user);
    return this;
  }

  /** A variant for flavor spot of the Workload of the job. */
  RunWorkload variant() {
    ObjectNode metadata = object.withObject("/metadata");
    String name = metadata.path("name").asText();
    metadata
        .putArray("ownerReferences")
        .addObject()
        .put("apiVersion", "kueue.x-k8s.io/v1beta2")
        .put("kind", "Workload")
        .put("name", name)
        .put("uid", metadata.path("uid").asText())
        .put("controller", true);
    metadata.put("name", name + "-variant-spot").put("uid", "uid-variant-" + name);
    return annotated("kueue.x-k8s.io/workload-allowed-resource-flavors", "spot");
  }

  RunWorkload spec(String field, int value) {
    object.withObject("/spec").put(field, value);
    return this;
  }

  RunWorkload ran(int seconds) {
    object.withObject("/status").put("accumulatedPastExecutionTimeSeconds", seconds);
    return this;
  }

  RunWorkload inQueue(String queue) {
    object.withObject("/spec").put("queueName", queue);
    return this;
  }

  RunWorkload admitted(int minute) {
    object.withObject("/status").putObject("admission").put("clusterQueue", "research");
    return condition("QuotaReserved", "True", "QuotaReserved", minute)
        .condition("Admitted", "True", "Admitted", minute);
  }

  RunWorkload ready(int minute) {
    return condition("PodsReady", "True", "Started", minute);
  }

  RunWorkload finished(String reason, int minute) {
    return condition("Finished", "True", reason, minute);
  }

  RunWorkload condition(String type, String status, String reason, int minute) {
    ArrayNode conditions = object.withObject("/status").withArrayProperty("conditions");
    for (int i = conditions.size() - 1; i >= 0; i--) {
      if (conditions.get(i).path("type").asText().equals(type)) {
        conditions.remove(i);
      }
    }
    conditions
        .addObject()
        .put("type", type)
        .put("status", status)
        .put("reason", reason)
        .put("lastTransitionTime", at(minute).toString());
    return this;
  }

  /** Without what it was admitted with. */
  RunWorkload released() {
    object.withObject("/status").remove("admission");
    return this;
  }

  static Instant at(int minute) {
    return START.plusSeconds(60L * minute);
  }

  CachedWorkload build() {
    try {
      return PARSER.parse(object.toString().getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
