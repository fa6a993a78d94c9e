package dev.sluice.jobs;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;

/** A batch Job in the words of a test. Suspended, in queue training, three pods of one CPU. */
public final class GivenJob {

  /** The UID of every job that is given. */
  public static final String UID = "4b5b3c2e-0000-4000-8000-000000000001";

  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private final ObjectNode object;

  private GivenJob(ObjectNode object) {
    this.object = object;
  }

  /** The job that every test starts from. */
  public static GivenJob job() {
    return fromYaml(
            """
            apiVersion: batch/v1
            kind: Job
            metadata:
              name: sample
              namespace: team
              uid: %s
              resourceVersion: "100"
              creationTimestamp: "2026-03-01T10:00:00Z"
              labels: {}
              annotations: {}
            spec:
              suspend: true
              parallelism: 3
              completions: 3
              template:
                metadata:
                  labels: {job-name: sample}
                spec:
                  restartPolicy: Never
                  containers:
                  - name: main
                    image: registry.example/batch/work:1
                    resources: {requests: {cpu: "1"}}
            status: {}
            """
                .formatted(UID))
        .queue("training");
  }

  /** A job as it is written. */
  public static GivenJob fromYaml(String yaml) {
    try {
      return new GivenJob((ObjectNode) YAML.readTree(yaml));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** In this queue; none when empty. */
  public GivenJob queue(String queue) {
    return queue.isEmpty()
        ? without("/metadata/labels", KueueConstants.QUEUE_NAME)
        : label(KueueConstants.QUEUE_NAME, queue);
  }

  /** With a label. */
  public GivenJob label(String key, String value) {
    object.withObject("/metadata/labels").put(key, value);
    return this;
  }

  /** With an annotation. */
  public GivenJob annotation(String key, String value) {
    object.withObject("/metadata/annotations").put(key, value);
    return this;
  }

  /** Without a field. */
  public GivenJob without(String parent, String field) {
    object.withObject(parent).remove(field);
    return this;
  }

  /** With a field of YAML. */
  public GivenJob with(String parent, String field, String yaml) {
    try {
      object.withObject(parent).set(field, YAML.readTree(yaml));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
    return this;
  }

  /** With a field of its spec. */
  public GivenJob spec(String field, String yaml) {
    return with("/spec", field, yaml);
  }

  /** With a field of its status. */
  public GivenJob status(String field, String yaml) {
    return with("/status", field, yaml);
  }

  /** With a field of its pods' spec. */
  public GivenJob pods(String field, String yaml) {
    return with("/spec/template/spec", field, yaml);
  }

  /** Unsuspended, with a start time and so many pods. */
  public GivenJob running(int active) {
    return spec("suspend", "false")
        .status("startTime", "'2026-03-01T10:00:05Z'")
        .status("active", Integer.toString(active));
  }

  /** Ended, with a condition of this type and message. */
  public GivenJob ended(String type, String message) {
    return running(0)
        .status(
            "conditions", "[{type: %s, status: 'True', message: '%s'}]".formatted(type, message));
  }

  /** Being deleted. */
  public GivenJob deleting() {
    return with("/metadata", "deletionTimestamp", "'2026-03-01T11:00:00Z'");
  }

  /** Controlled by another object. */
  public GivenJob ownedBy(String apiVersion, String kind, String name, String uid) {
    return with(
        "/metadata",
        "ownerReferences",
        "[{apiVersion: %s, kind: %s, name: %s, uid: %s, controller: true}]"
            .formatted(apiVersion, kind, name, uid));
  }

  /** With another name and UID. */
  public GivenJob named(String name, String uid) {
    object.withObject("/metadata").put("name", name).put("uid", uid);
    return this;
  }

  /** The object. */
  public ObjectNode object() {
    return object;
  }

  /** What the framework keeps of it. */
  public CachedJob view() {
    return CachedJobParser.of(new BatchJob(), object);
  }
}
