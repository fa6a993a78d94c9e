package dev.sluice.webhooks;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldError;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.review.WebhookRouter.RequestingUser;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Objects written as YAML, changed in one place, and what is said about them. */
public final class Reviews {

  static final YAMLMapper YAML = new YAMLMapper();

  /** The gates that are on by default. */
  static final Set<String> GATES =
      Set.of(
          "PartialAdmission",
          "AdmissionGatedBy",
          "WorkloadPriorityClassDefaulting",
          "WorkloadValidateResourcesAreNonNegative",
          "WorkloadValidationForPodSetMetadata",
          "TASValidateWorkloadSliceSize",
          "TopologyAwareScheduling",
          "TASMultiLayerTopology",
          "ValidateRayAndSparkJobUpdates",
          "RayServiceValidateUpgradeStrategy",
          "ElasticJobsViaWorkloadSlices");

  private Reviews() {}

  /** One place in an object and what to write there; the value null removes it. */
  public record Edit(String pointer, String yaml) {}

  /** Writes the YAML at the pointer; null removes what is there. */
  public static Edit set(String pointer, String yaml) {
    return new Edit(pointer, yaml);
  }

  /** The document of a text. */
  public static JsonNode yaml(String text) {
    try {
      return YAML.readTree(text);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** A copy of the object with the edits. Objects on the way are added. */
  public static JsonNode edited(JsonNode object, Edit... edits) {
    JsonNode copy = object.deepCopy();
    for (Edit edit : edits) {
      JsonPointer pointer = JsonPointer.compile(edit.pointer());
      JsonNode value = yaml(edit.yaml());
      String last = pointer.last().getMatchingProperty();
      switch (parent(copy, pointer.head())) {
        case ArrayNode array when last.equals("-") -> array.add(value);
        case ArrayNode array -> array.set(Integer.parseInt(last), value);
        case ObjectNode fields when value.isNull() -> fields.remove(last);
        case ObjectNode fields -> fields.set(last, value);
        case JsonNode other -> throw new IllegalArgumentException(edit + " at " + other);
      }
    }
    return copy;
  }

  private static JsonNode parent(JsonNode object, JsonPointer pointer) {
    JsonNode found = object.at(pointer);
    if (found.isMissingNode()) {
      JsonNode above = parent(object, pointer.head());
      return ((ObjectNode) above).putObject(pointer.last().getMatchingProperty());
    }
    return found;
  }

  /** Somebody creates the object. */
  public static AdmissionRequest create(JsonNode object) {
    return request(AdmissionRequest.Operation.CREATE, "", object, MissingNode.getInstance());
  }

  /** The user creates the object. */
  public static AdmissionRequest create(JsonNode object, String user) {
    AdmissionRequest request = create(object);
    return new AdmissionRequest(
        request.uid(),
        request.operation(),
        request.subResource(),
        request.group(),
        request.kind(),
        request.namespace(),
        request.name(),
        new RequestingUser(user, Set.of(), true),
        request.object(),
        request.oldObject(),
        request.dryRun());
  }

  /** Somebody updates the object. */
  public static AdmissionRequest update(JsonNode before, JsonNode now) {
    return request(AdmissionRequest.Operation.UPDATE, "", now, before);
  }

  /** Somebody updates the status of the object. */
  public static AdmissionRequest updateStatus(JsonNode before, JsonNode now) {
    return request(AdmissionRequest.Operation.UPDATE, "status", now, before);
  }

  private static AdmissionRequest request(
      AdmissionRequest.Operation operation, String subResource, JsonNode now, JsonNode before) {
    return new AdmissionRequest(
        "uid-1",
        operation,
        subResource,
        "kueue.x-k8s.io",
        JsonFields.text(now, "kind"),
        "team",
        JsonFields.text(now, "metadata", "name"),
        new RequestingUser("somebody", Set.of(), true),
        now,
        before,
        false);
  }

  /** Settings that leave jobs without a queue alone, with changed gates. */
  public static WebhookSettings settings(String... gateChanges) {
    return settings(false, gateChanges);
  }

  /** The default gates with changes: a name turns one on, a name after a minus off. */
  public static WebhookSettings settings(boolean withoutQueueName, String... gateChanges) {
    Set<String> gates = new HashSet<>(GATES);
    for (String change : gateChanges) {
      if (change.startsWith("-")) {
        gates.remove(change.substring(1));
      } else {
        gates.add(change);
      }
    }
    Set<FeatureGate> on =
        gates.stream()
            .map(name -> FeatureGate.named(name).orElseThrow())
            .collect(Collectors.toSet());
    return new WebhookSettings(
        withoutQueueName,
        labels -> !"no".equals(labels.get("managed")),
        Set.of("batch/job", "pod", "deployment", "statefulset"),
        on,
        on);
  }

  /** The object with the changes of an answer that only adds and replaces. */
  public static JsonNode mutated(JsonNode object, AdmissionResult admissionResult) {
    JsonNode copy = object;
    for (JsonNode change : ((AdmissionResult.Allowed) admissionResult).patch()) {
      copy = edited(copy, new Edit(change.path("path").asText(), change.path("value").toString()));
    }
    return copy;
  }

  /** What is wrong, as people read it; empty when it is allowed. */
  public static List<String> messages(AdmissionResult admissionResult) {
    return switch (admissionResult) {
      case AdmissionResult.Allowed allowed -> List.of();
      case AdmissionResult.Rejected rejected ->
          rejected.errors().stream().map(FieldError::message).toList();
    };
  }

  /** The messages of the rules' answer to the request. */
  public static List<String> messages(
      Function<AdmissionRequest, AdmissionResult> rules, AdmissionRequest request) {
    return messages(rules.apply(request));
  }

  /** The patch as text, one operation per element. */
  public static List<String> patch(AdmissionResult admissionResult) {
    return switch (admissionResult) {
      case AdmissionResult.Rejected rejected -> throw new AssertionError(rejected);
      case AdmissionResult.Allowed allowed ->
          allowed.patch().valueStream().map(JsonNode::toString).toList();
    };
  }

  /**
   * A cluster that is written down.
   *
   * @param busy UID of the only object that has a Workload in use, and is being evicted
   */
  public record Cluster(
      boolean hasQueue,
      boolean hasPriority,
      boolean ownerManaged,
      Map<String, String> labels,
      String busy)
      implements ClusterLookup {

    /** A cluster in which no object has a Workload in use. */
    public Cluster(
        boolean hasQueue, boolean hasPriority, boolean ownerManaged, Map<String, String> labels) {
      this(hasQueue, hasPriority, ownerManaged, labels, "");
    }

    /** A cluster that has nothing. */
    public static final Cluster EMPTY = new Cluster(false, false, false, Map.of());

    @Override
    public boolean hasDefaultLocalQueue(String namespace) {
      return hasQueue;
    }

    @Override
    public boolean hasDefaultPriorityClass() {
      return hasPriority;
    }

    @Override
    public Map<String, String> namespaceLabels(String namespace) {
      return labels;
    }

    @Override
    public boolean hasWorkloadInUse(String namespace, Owner job) {
      return job.uid().equals(busy);
    }

    @Override
    public boolean isBeingEvicted(String namespace, Owner job) {
      return !busy.isEmpty() && job.uid().equals(busy);
    }

    @Override
    public boolean isManaged(String namespace, Owner owner) {
      return ownerManaged;
    }
  }
}
