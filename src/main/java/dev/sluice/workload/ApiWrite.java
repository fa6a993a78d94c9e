package dev.sluice.workload;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.ObjectPath;
import dev.sluice.kube.json.JsonMergePatch;

/** One write: its request, and how to tell by the object whether it stands. */
sealed interface ApiWrite {

  /** The object it is about; its UID is empty before it is created. */
  WorkloadId id();

  /** The request that carries it out. */
  ApiRequest request();

  /** The request that reads the object. */
  default ApiRequest read() {
    return ApiRequest.get(path().object());
  }

  /** Where the object is. */
  default ObjectPath path() {
    return new ObjectPath(
        ApiVersions.GROUP + "/v1beta2", id().namespace(), "workloads", id().name());
  }

  /** Whether the object, as read back, shows that the write stands. */
  boolean isAppliedIn(JsonNode object);

  /** Whether it can't be carried out on the object any more, as read back. */
  boolean isSupersededBy(JsonNode object);

  /** A merge patch; {@code version} is the one that must still hold, 0 for any. */
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

    /** It is ours when the same object owns it. */
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
