package dev.sluice.workload;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.client.RawRequests;
import dev.sluice.kube.json.JsonMergePatch;
import io.fabric8.kubernetes.client.http.HttpRequest;

/** One write: its request, and how to tell by the object whether it stands. */
sealed interface ApiWrite {

  /** The object it is about; its UID is empty before it is created. */
  WorkloadId id();

  HttpRequest request(RawRequests requests);

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
    public HttpRequest request(RawRequests requests) {
      return requests.patch(id, subresource, fieldManager, body.toString());
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
    public HttpRequest request(RawRequests requests) {
      return requests.create(id.namespace(), PatchingWorkloadWriter.OWNER, body.toString());
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
    public HttpRequest request(RawRequests requests) {
      ObjectNode options = JsonNodeFactory.instance.objectNode();
      options.put("apiVersion", "v1").put("kind", "DeleteOptions");
      options.put("propagationPolicy", "Background");
      options.putObject("preconditions").put("uid", id.uid());
      return requests.delete(id, options.toString());
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
