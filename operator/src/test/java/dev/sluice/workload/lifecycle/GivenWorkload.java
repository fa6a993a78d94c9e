package dev.sluice.workload.lifecycle;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;

/** A Workload of a job, in LocalQueue training, as the API server writes it. */
final class GivenWorkload {

  /** When all conditions were set. */
  static final Instant SINCE = Instant.parse("2026-03-01T10:00:00Z");

  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());
  private static final WorkloadParser PARSER = new WorkloadParser();

  private final ObjectNode object;

  private GivenWorkload(ObjectNode object) {
    this.object = object;
  }

  static GivenWorkload workload() {
    return new GivenWorkload(
        node(
            """
            metadata:
              name: job-sample
              namespace: team
              uid: uid-1
              resourceVersion: "100"
              generation: 1
              creationTimestamp: "2026-03-01T09:00:00Z"
              finalizers: [kueue.x-k8s.io/resource-in-use, example.com/other]
              labels: {kueue.x-k8s.io/job-uid: job-uid-1}
              annotations: {}
              ownerReferences:
              - {apiVersion: batch/v1, kind: Job, name: sample, uid: job-uid-1, controller: true}
            spec:
              queueName: training
              podSets:
              - {name: main, count: 1, template: {spec: {containers: [{name: c, image: i}]}}}
            status: {conditions: []}
            """));
  }

  private static ObjectNode node(String yaml) {
    try {
      return (ObjectNode) YAML.readTree(yaml);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  GivenWorkload reserved() {
    status(
        """
        admission:
          clusterQueue: research
          podSetAssignments:
          - {name: main, count: 1, flavors: {cpu: spot}, resourceUsage: {cpu: "1"}}
        """);
    return condition("QuotaReserved", "True", "QuotaReserved", "");
  }

  GivenWorkload admitted() {
    return reserved().condition("Admitted", "True", "Admitted", "");
  }

  GivenWorkload condition(String type, String status, String reason, String message) {
    object
        .withObjectProperty("status")
        .withArrayProperty("conditions")
        .addObject()
        .put("type", type)
        .put("status", status)
        .put("reason", reason)
        .put("message", message)
        .put("lastTransitionTime", SINCE.toString());
    return this;
  }

  /** With further fields of its status. */
  GivenWorkload status(String yaml) {
    object.withObjectProperty("status").setAll(node(yaml));
    return this;
  }

  /** With further fields of its spec. */
  GivenWorkload spec(String yaml) {
    object.withObjectProperty("spec").setAll(node(yaml));
    return this;
  }

  GivenWorkload inactive() {
    return spec("active: false");
  }

  GivenWorkload gatedBy(String controllers) {
    return annotation("kueue.x-k8s.io/admission-gated-by", controllers);
  }

  GivenWorkload annotation(String key, String value) {
    object.withObjectProperty("metadata").withObjectProperty("annotations").put(key, value);
    return this;
  }

  GivenWorkload unowned() {
    object.withObjectProperty("metadata").remove("ownerReferences");
    return this;
  }

  GivenWorkload neverOwned() {
    object.withObjectProperty("metadata").remove("labels");
    return unowned();
  }

  /** A slice of an elastic job, which replaces another one unless that is empty. */
  GivenWorkload slice(String name, String replaced) {
    ObjectNode metadata = object.withObjectProperty("metadata");
    metadata.put("name", name).put("uid", "uid-" + name);
    ObjectNode annotations = metadata.withObjectProperty("annotations");
    annotations.put("kueue.x-k8s.io/elastic-job", "true");
    if (!replaced.isEmpty()) {
      annotations.put("kueue.x-k8s.io/workload-slice-replacement-for", "team/" + replaced);
    }
    return this;
  }

  GivenWorkload deleting() {
    object.withObjectProperty("metadata").put("deletionTimestamp", SINCE.toString());
    return this;
  }

  /** Created at another time. */
  GivenWorkload created(Instant at) {
    object.withObjectProperty("metadata").put("creationTimestamp", at.toString());
    return this;
  }

  GivenWorkload version(long version) {
    object.withObjectProperty("metadata").put("resourceVersion", Long.toString(version));
    return this;
  }

  CachedWorkload get() {
    try {
      return PARSER.parse(new ObjectMapper().writeValueAsBytes(object));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
