package dev.sluice.workload.writing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.ObjectPath;
import dev.sluice.kube.json.JsonMergePatch;

/** One write to a Workload: its request, and whether an object shows that it was carried out. */
sealed interface ApiWrite {

  /** The Workload to write; its UID is empty before it is created. */
  WorkloadId id();

  /** The request of the write. */
  ApiRequest request();

  /** The request that reads the object. */
  default ApiRequest read() {
    return ApiRequest.get(path().object());
  }

  /** The path of the Workload. */
  default ObjectPath path() {
    return new ObjectPath(
        ApiVersions.GROUP + "/v1beta2", id().namespace(), "workloads", id().name());
  }

  /** Whether the object that was read shows that the write was carried out. */
  boolean isAppliedIn(JsonNode object);

  /** Whether the object that was read has changed so that the write can't be carried out. */
  boolean isSupersededBy(JsonNode object);

  /**
   * A merge patch.
   *
   * @param version the resource version that the object must have; 0 for any
   * @param subresource such as {@code /status}; empty for the object itself
   */
  record Patch(
      WorkloadId id, long version, String subresource, String fieldManager, ObjectNode body)
      implements ApiWrite {

    static Patch of(
        WorkloadId id, long version, String subresource, String fieldManager, JsonNode patch) {
      ObjectNode body = patch.deepCopy();
      ObjectNode metadata =
          body.get("metadata") instanceof ObjectNode given ? given : body.putObject("metadata");
      if (version > 0) {
        metadata.put("resourceVersion", Long.toString(version));
      }
      metadata.put("uid", id.uid());
      return new Patch(id, version, subresource, fieldManager, body);
    }

    @Override
    public ApiRequest request() {
      return ApiRequest.patch(path().object() + subresource, body).by(fieldManager);
    }

    @Override
    public boolean isAppliedIn(JsonNode object) {
      ObjectNode wanted = body.deepCopy();
      wanted.withObjectProperty("metadata").remove("resourceVersion");
      return JsonMergePatch.isContained(wanted, object);
    }

    @Override
    public boolean isSupersededBy(JsonNode object) {
      return version > 0 && object.path("metadata").path("resourceVersion").asLong() != version;
    }
  }

  /** A creation. */
  record Create(WorkloadId id, ObjectNode body) implements ApiWrite {

    @Override
    public ApiRequest request() {
      return ApiRequest.create(path().collection(), body).by(PatchingWorkloadWriter.OWNER);
    }

    /** A Workload with the same owner was created by an earlier attempt. */
    @Override
    public boolean isAppliedIn(JsonNode object) {
      JsonNode owner = owner(body);
      return !owner.isMissingNode() && owner.equals(owner(object));
    }

    private static JsonNode owner(JsonNode object) {
      return object.path("metadata").path("ownerReferences").path(0).path("uid");
    }

    @Override
    public boolean isSupersededBy(JsonNode object) {
      return true;
    }
  }

  /** A deletion in the background. */
  record Delete(WorkloadId id) implements ApiWrite {

    @Override
    public ApiRequest request() {
      return ApiRequest.delete(path().object(), id.uid());
    }

    @Override
    public boolean isAppliedIn(JsonNode object) {
      return object.path("metadata").has("deletionTimestamp");
    }

    @Override
    public boolean isSupersededBy(JsonNode object) {
      return false;
    }
  }
}
