package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * What the API server asks about.
 *
 * @param uid to be repeated in the answer
 * @param operation what is being done
 * @param subResource empty for the object itself
 * @param group API group of the kind, empty for the core
 * @param kind of the object
 * @param namespace empty for cluster-wide objects
 * @param name empty when the API server is to make one
 * @param user who asks for it, by the name that the API server knows
 * @param object as it will be; missing when it is deleted
 * @param oldObject as it is; missing when it is created
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

  /** What can be done to an object. */
  public enum Operation {
    /** It comes into being. */
    CREATE,
    /** It changes. */
    UPDATE,
    /** It is deleted. */
    DELETE,
    /** Something below it is opened. */
    CONNECT
  }

  /**
   * Reads the request of a review.
   *
   * @throws IllegalArgumentException saying what is missing when it isn't one
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

  /** Whether the object is created now. */
  public boolean isCreate() {
    return operation == Operation.CREATE;
  }

  /** Whether the object changes now. */
  public boolean isUpdate() {
    return operation == Operation.UPDATE;
  }

  /** Whether only the status is written. */
  public boolean isStatus() {
    return subResource.equals("status");
  }

  /** Whether the object is on its way out, and its spec stays as it is. */
  public boolean isFinalizing() {
    return isUpdate()
        && ReviewJson.isPresent(object, "metadata", "deletionTimestamp")
        && ReviewJson.at(object, "spec").equals(ReviewJson.at(oldObject, "spec"));
  }
}
