package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.workload.record.PodTemplateHash;
import java.time.Instant;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads what is kept of a job from the object's JSON. */
public final class CachedJobParser {

  private static final String KUBECTL = "kubectl.kubernetes.io/last-applied-configuration";

  private CachedJobParser() {}

  /** The view of an object of the adapter's kind. */
  public static CachedJob of(JobIntegration integration, JsonNode object) {
    JsonNode metadata = object.path("metadata");
    JobState state = integration.state(object);
    boolean mayStart = (state.suspended() || state.handling().held()) && state.end().isEmpty();
    return new CachedJob(
        ref(integration.kind(), metadata),
        metadata.path("resourceVersion").asLong(),
        instant(metadata.path("creationTimestamp")),
        deletionTime(metadata),
        controller(metadata),
        finalizers(metadata),
        strings(metadata.path("labels")),
        annotations(metadata),
        state,
        integration.remoteStatus(object),
        podSets(integration, object),
        integration.priorityClass(object),
        mayStart || isElastic(metadata) || integration.reference(object).isPresent()
            ? text(object)
            : "");
  }

  /** The generation of an elastic job is part of the names of its slices. */
  private static boolean isElastic(JsonNode metadata) {
    return metadata.path("annotations").path(KueueConstants.ELASTIC_JOB).asText().equals("true");
  }

  private static JobRef ref(JobKind kind, JsonNode metadata) {
    return new JobRef(
        kind,
        metadata.path("namespace").asText(),
        metadata.path("name").asText(),
        metadata.path("uid").asText());
  }

  private static Instant instant(JsonNode time) {
    return time.isTextual() ? Instant.parse(time.asText()) : Instant.EPOCH;
  }

  private static Optional<Instant> deletionTime(JsonNode metadata) {
    return metadata.hasNonNull("deletionTimestamp")
        ? Optional.of(instant(metadata.path("deletionTimestamp")))
        : Optional.empty();
  }

  private static List<String> finalizers(JsonNode metadata) {
    List<String> result = new ArrayList<>();
    metadata.path("finalizers").forEach(name -> result.add(name.asText()));
    return result;
  }

  /** The controlling owner that metadata names; empty if they name none. */
  public static Optional<CachedJob.Controller> controller(JsonNode metadata) {
    for (JsonNode owner : metadata.path("ownerReferences")) {
      if (owner.path("controller").asBoolean()) {
        return Optional.of(
            new CachedJob.Controller(
                owner.path("apiVersion").asText(),
                owner.path("kind").asText(),
                owner.path("name").asText(),
                owner.path("uid").asText()));
      }
    }
    return Optional.empty();
  }

  private static Map<String, String> annotations(JsonNode metadata) {
    Map<String, String> annotations = strings(metadata.path("annotations"));
    annotations.remove(KUBECTL);
    return annotations;
  }

  private static Map<String, String> strings(JsonNode map) {
    Map<String, String> result = new LinkedHashMap<>();
    map.properties().forEach(entry -> result.put(entry.getKey(), entry.getValue().asText()));
    return result;
  }

  private static List<CachedJob.PodSet> podSets(JobIntegration integration, JsonNode object) {
    List<CachedJob.PodSet> result = new ArrayList<>();
    Map<JsonNode, PodTemplateHash> hashes = new IdentityHashMap<>();
    for (PodSetTemplate podSet : integration.podSets(object)) {
      JsonNode spec = podSet.template().path("spec");
      result.add(
          new CachedJob.PodSet(
              podSet.name(),
              podSet.count(),
              podSet.minCount(),
              hashes.computeIfAbsent(spec, PodTemplateHash::of),
              spec.path("priorityClassName").asText()));
    }
    return result;
  }

  private static String text(JsonNode object) {
    ObjectNode copy = object.deepCopy();
    if (copy.get("metadata") instanceof ObjectNode metadata) {
      metadata.remove("managedFields");
      if (metadata.get("annotations") instanceof ObjectNode annotations) {
        annotations.remove(KUBECTL);
      }
    }
    return copy.toString();
  }
}
