package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KueueConstants;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.client.ObjectPath;
import dev.sluice.workload.record.CachedWorkload;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Creates and deletes ProvisioningRequests and PodTemplates. A method that throws an
 * IllegalStateException may be called again. Usable from any thread.
 */
final class RequestWriter {

  private static final String TEMPLATES = "podtemplates";

  private final ApiClient client;
  private final String fieldManager;

  RequestWriter(ApiClient client) {
    this(client, KueueConstants.PROVISIONING_REQUEST);
  }

  /**
   * A writer under a name.
   *
   * @param fieldManager owns the fields of what is created
   */
  RequestWriter(ApiClient client, String fieldManager) {
    this.client = client;
    this.fieldManager = fieldManager;
  }

  /** What became of a creation. */
  sealed interface Creation {

    /** The object was created. */
    record Created(JsonNode object) implements Creation {}

    /** The object was created before. */
    record Exists(JsonNode object) implements Creation {}

    /** Another object has the name. */
    record Taken(JsonNode object) implements Creation {}

    /** An object has the name that goes soon, with an earlier owner of the same name. */
    record Leaving(JsonNode object) implements Creation {}

    /** The API server refuses the object. */
    record Denied(String message) implements Creation {}
  }

  /** The Workload as the API server has it; empty if it is gone. */
  Optional<JsonNode> read(CachedWorkload workload) throws InterruptedException {
    ObjectPath path =
        new ObjectPath(
            ApiVersions.GROUP + "/" + ApiVersions.V1BETA2,
            workload.id().namespace(),
            "workloads",
            workload.id().name());
    return get(path)
        .filter(it -> it.path("metadata").path("uid").asText().equals(workload.id().uid()));
  }

  /** Creates a request; one that the Workload has already is what exists. */
  Creation create(CachedWorkload workload, ObjectNode request) throws InterruptedException {
    Creation result = create(request, RequestManifest.PLURAL);
    if (result instanceof Creation.Taken taken) {
      CachedRequest present = CachedRequest.of(taken.object());
      if (ProvisioningPolicy.belongsTo(workload, present)) {
        return new Creation.Exists(taken.object());
      }
      return ProvisioningPolicy.isLeftBehind(workload, present)
          ? new Creation.Leaving(taken.object())
          : result;
    }
    return result;
  }

  /** Creates a PodTemplate; one that the request has already is what exists. */
  Creation create(CachedRequest request, ObjectNode template) throws InterruptedException {
    Creation result = create(template, TEMPLATES);
    return result instanceof Creation.Taken taken ? present(request, taken) : result;
  }

  /** What a PodTemplate is to a request whose PodTemplate has the same name. */
  static Creation present(CachedRequest request, Creation.Taken taken) {
    JsonNode object = taken.object();
    if (CachedRequest.controllerOf(object, "uid").equals(request.uid())) {
      return new Creation.Exists(object);
    }
    return CachedRequest.isManaged(object)
            && CachedRequest.controllerOf(object, "kind").equals(RequestManifest.KIND)
            && CachedRequest.controllerOf(object, "name").equals(request.name())
        ? new Creation.Leaving(object)
        : taken;
  }

  /** Creates an object of any kind; whatever has its name is {@code Taken}. */
  Creation create(ObjectNode object, String plural) throws InterruptedException {
    ObjectPath path =
        new ObjectPath(
            object.path("apiVersion").asText(),
            object.path("metadata").path("namespace").asText(),
            plural,
            object.path("metadata").path("name").asText());
    ApiRequest creation = ApiRequest.create(path.collection(), object).by(fieldManager);
    return switch (Futures.forResult(client.send(creation))) {
      case ApiOutcome.Written written -> new Creation.Created(written.object());
      case ApiOutcome.Conflict conflict ->
          get(path)
              .<Creation>map(Creation.Taken::new)
              .orElseThrow(() -> new IllegalStateException(path + " was deleted meanwhile"));
      case ApiOutcome.Gone gone ->
          throw new IllegalStateException(path + " can't be created: " + gone.message());
      case ApiOutcome.Refused refused -> new Creation.Denied(refused.message());
      case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
    };
  }

  /** The PodTemplates of a request that exist, by name. */
  Map<String, JsonNode> templates(CachedRequest request) throws InterruptedException {
    Map<String, JsonNode> result = new HashMap<>();
    for (String name : request.pods().keySet()) {
      get(new ObjectPath("v1", request.namespace(), TEMPLATES, name))
          .ifPresent(template -> result.put(name, template));
    }
    return result;
  }

  /**
   * Deletes a request, if it is still the same; its PodTemplates go with it.
   *
   * @return why the API server refuses it; empty if the request is gone or going
   */
  Optional<String> delete(CachedRequest request) throws InterruptedException {
    return delete(
        new ObjectPath(
            RequestManifest.GROUP + "/" + RequestManifest.VERSION,
            request.namespace(),
            RequestManifest.PLURAL,
            request.name()),
        request.uid());
  }

  /**
   * Deletes a PodTemplate, if it is still the same.
   *
   * @return why the API server refuses it; empty if the PodTemplate is gone or going
   */
  Optional<String> deleteTemplate(JsonNode template) throws InterruptedException {
    JsonNode metadata = template.path("metadata");
    return delete(
        new ObjectPath(
            "v1", metadata.path("namespace").asText(), TEMPLATES, metadata.path("name").asText()),
        metadata.path("uid").asText());
  }

  /**
   * Deletes an object at this path, if it has this UID.
   *
   * @return why the API server refuses it; empty if the object is gone or going
   */
  Optional<String> delete(ObjectPath path, String uid) throws InterruptedException {
    ApiOutcome outcome = Futures.forResult(client.send(ApiRequest.delete(path.object(), uid)));
    return switch (outcome) {
      case ApiOutcome.Written written -> Optional.empty();
      case ApiOutcome.Gone gone -> Optional.empty();
      case ApiOutcome.Conflict conflict -> Optional.empty(); // another object has the name by now
      case ApiOutcome.Refused refused -> Optional.of(refused.message());
      case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
    };
  }

  private Optional<JsonNode> get(ObjectPath path) throws InterruptedException {
    return switch (Futures.forResult(client.send(ApiRequest.get(path.object())))) {
      case ApiOutcome.Written found -> Optional.of(found.object());
      case ApiOutcome.Gone gone -> Optional.empty();
      case ApiOutcome.Conflict conflict -> throw new IllegalStateException(conflict.message());
      case ApiOutcome.Refused refused -> throw new IllegalStateException(refused.message());
      case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
    };
  }
}
