package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * An admission request of the API server.
 *
 * @param uid identifier to repeat in the response
 * @param operation the operation
 * @param subResource empty for the object itself
 * @param group API group of the kind, empty for the core group
 * @param kind kind of the object
 * @param namespace empty for cluster-scoped objects
 * @param name empty if the API server is to generate one
 * @param user name of the requesting user
 * @param object the new object; missing on deletion
 * @param oldObject the present object; missing on creation
 */
public record AdmissionRequest(
    String uid,
    Operation operation,
    String subResource,
    String group,
    String kind,
    String namespace,
    String name,
    String user,
    JsonNode object,
    JsonNode oldObject) {

  /** Operations on an object. */
  public enum Operation {
    /** Creation. */
    CREATE,
    /** Update. */
    UPDATE,
    /** Deletion. */
    DELETE,
    /** Connection to a subresource. */
    CONNECT
  }

  /**
   * Reads the request of an AdmissionReview.
   *
   * @throws IllegalArgumentException if the review is malformed; the message says what is missing
   */
  static AdmissionRequest of(JsonNode review) {
    if (!ReviewJson.text(review, "kind").equals("AdmissionReview")) {
      throw new IllegalArgumentException("kind must be AdmissionReview");
    }
    JsonNode request = ReviewJson.at(review, "request");
    String uid = ReviewJson.text(request, "uid");
    if (uid.isEmpty()) {
      throw new IllegalArgumentException("request.uid is missing");
    }
    return new AdmissionRequest(
        uid,
        operation(ReviewJson.text(request, "operation")),
        ReviewJson.text(request, "subResource"),
        ReviewJson.text(request, "kind", "group"),
        ReviewJson.text(request, "kind", "kind"),
        ReviewJson.text(request, "namespace"),
        ReviewJson.text(request, "name"),
        ReviewJson.text(request, "userInfo", "username"),
        ReviewJson.at(request, "object"),
        ReviewJson.at(request, "oldObject"));
  }

  private static Operation operation(String text) {
    for (Operation operation : Operation.values()) {
      if (operation.name().equals(text)) {
        return operation;
      }
    }
    throw new IllegalArgumentException(
        "request.operation: \"" + text + "\" is none of CREATE, UPDATE, DELETE, CONNECT");
  }

  /** Whether the operation creates the object. */
  public boolean isCreate() {
    return operation == Operation.CREATE;
  }

  /** Whether the operation updates the object. */
  public boolean isUpdate() {
    return operation == Operation.UPDATE;
  }

  /** Whether only the status is written. */
  public boolean isStatus() {
    return subResource.equals("status");
  }

  /** Whether the object is being deleted and its spec does not change. */
  public boolean isFinalizing() {
    return isUpdate()
        && ReviewJson.isPresent(object, "metadata", "deletionTimestamp")
        && ReviewJson.at(object, "spec").equals(ReviewJson.at(oldObject, "spec"));
  }
}
