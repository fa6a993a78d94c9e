package dev.sluice.kube.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * One request about a single object.
 *
 * @param method of HTTP
 * @param path below the address of the API server, with or without a slash in front, and with the
 *     query
 * @param contentType of the body; empty when there is no body
 * @param body as text
 */
public record ApiRequest(String method, String path, String contentType, String body) {

  private static final String JSON = "application/json";
  private static final String MERGE_PATCH = "application/merge-patch+json";
  private static final String JSON_PATCH = "application/json-patch+json";
  private static final String APPLY = "application/apply-patch+yaml";

  /** Reads what is at a path. */
  public static ApiRequest get(String path) {
    return new ApiRequest("GET", path, "", "");
  }

  /** Creates an object in a collection. */
  public static ApiRequest create(String collection, JsonNode object) {
    return new ApiRequest("POST", collection, JSON, object.toString());
  }

  /** Applies a JSON merge patch to what is at a path. */
  public static ApiRequest patch(String path, JsonNode patch) {
    return new ApiRequest("PATCH", path, MERGE_PATCH, patch.toString());
  }

  /** Applies the operations of a JSON patch to what is at a path, all of them or none. */
  public static ApiRequest jsonPatch(String path, ArrayNode operations) {
    return new ApiRequest("PATCH", path, JSON_PATCH, operations.toString());
  }

  /**
   * Applies an object on the server's side: makes what is at a path, or changes it so far. Fields
   * that other field managers own are taken over.
   *
   * @param manifest the object in YAML, which JSON is, too
   */
  public static ApiRequest apply(String path, String manifest, String fieldManager) {
    return new ApiRequest(
        "PATCH", path + "?force=true&fieldManager=" + fieldManager, APPLY, manifest);
  }

  /**
   * Deletes an object if it still has this UID; what the object owns is deleted in the background.
   */
  public static ApiRequest delete(String path, String uid) {
    return new ApiRequest("DELETE", path, JSON, deleteOptions(uid).toString());
  }

  /** The same without a grace period: nobody is asked whether the object has ended. */
  public static ApiRequest deleteAtOnce(String path, String uid) {
    return delete(path, uid, 0);
  }

  /** The same with this grace period, in seconds, whatever the object says. */
  public static ApiRequest delete(String path, String uid, long graceSeconds) {
    ObjectNode options = deleteOptions(uid).put("gracePeriodSeconds", graceSeconds);
    return new ApiRequest("DELETE", path, JSON, options.toString());
  }

  private static ObjectNode deleteOptions(String uid) {
    ObjectNode options = JsonNodeFactory.instance.objectNode();
    options.put("apiVersion", "v1").put("kind", "DeleteOptions");
    options.put("propagationPolicy", "Background");
    options.putObject("preconditions").put("uid", uid);
    return options;
  }

  /** The same request in the name of a field manager; nobody in particular if it is empty. */
  public ApiRequest by(String fieldManager) {
    return fieldManager.isEmpty()
        ? this
        : new ApiRequest(method, path + "?fieldManager=" + fieldManager, contentType, body);
  }

  /** Whether the request changes something. */
  public boolean isWrite() {
    return !method.equals("GET");
  }
}
