package dev.sluice.webhooks.review;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

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
 * @param requestingUser who sent the request
 * @param object the new object; missing on deletion
 * @param oldObject the present object; missing on creation
 * @param dryRun whether nothing will be stored
 */
public record AdmissionRequest(
    String uid,
    Operation operation,
    String subResource,
    String group,
    String kind,
    String namespace,
    String name,
    RequestingUser requestingUser,
    JsonNode object,
    JsonNode oldObject,
    boolean dryRun) {

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
    if (!JsonFields.text(review, "kind").equals("AdmissionReview")) {
      throw new IllegalArgumentException("kind must be AdmissionReview");
    }
    JsonNode request = JsonFields.at(review, "request");
    String uid = JsonFields.text(request, "uid");
    if (uid.isEmpty()) {
      throw new IllegalArgumentException("request.uid is missing");
    }
    return new AdmissionRequest(
        uid,
        operation(JsonFields.text(request, "operation")),
        JsonFields.text(request, "subResource"),
        JsonFields.text(request, "kind", "group"),
        JsonFields.text(request, "kind", "kind"),
        JsonFields.text(request, "namespace"),
        JsonFields.text(request, "name"),
        RequestingUser.of(request),
        JsonFields.at(request, "object"),
        JsonFields.at(request, "oldObject"),
        JsonFields.at(request, "dryRun").asBoolean());
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

  /**
   * The errors of the object, without those that the old object already had: these do not block an
   * update. Errors beyond {@link FieldErrors#MOST_KEPT} can't be compared, and do.
   *
   * @return a new list, which the caller may change
   */
  public List<FieldError> newErrors(Function<JsonNode, List<FieldError>> validateObject) {
    List<FieldError> errors = new ArrayList<>(validateObject.apply(object));
    if (isUpdate() && !errors.isEmpty()) {
      Set<FieldError> known = new HashSet<>(validateObject.apply(oldObject));
      errors.removeIf(error -> !error.isFurther() && known.contains(error));
    }
    return errors;
  }

  /** The name of the requesting user. */
  public String user() {
    return requestingUser.name();
  }

  /** Whether the operation creates the object. */
  public boolean isCreate() {
    return operation == Operation.CREATE;
  }

  /** Whether the operation updates the object. */
  public boolean isUpdate() {
    return operation == Operation.UPDATE;
  }

  /** Whether the object is being deleted and its spec does not change. */
  public boolean isFinalizing() {
    return isUpdate()
        && JsonFields.isPresent(object, "metadata", "deletionTimestamp")
        && JsonFields.at(object, "spec").equals(JsonFields.at(oldObject, "spec"));
  }
}
