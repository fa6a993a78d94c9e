package dev.sluice.webhooks.review;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.List;

/** Result of reviewing an admission request. */
public sealed interface AdmissionResult {

  /**
   * The request is allowed.
   *
   * @param patch JSON patch operations, empty when nothing changes
   * @param warnings warnings for the user
   */
  record Allowed(ArrayNode patch, List<String> warnings) implements AdmissionResult {}

  /**
   * The request is rejected.
   *
   * @param errors the errors, at least one and no more than people are shown
   */
  record Rejected(List<FieldError> errors) implements AdmissionResult {}

  /** Allowed without changes. */
  static AdmissionResult allowed() {
    return new Allowed(JsonNodeFactory.instance.arrayNode(), List.of());
  }

  /** Allowed with the changes of the patch. */
  static AdmissionResult patched(JsonPatch patch) {
    return new Allowed(patch.operations(), List.of());
  }

  /** Allowed if there are no errors, otherwise rejected. */
  static AdmissionResult of(List<FieldError> errors) {
    return of(errors, List.of());
  }

  /** Allowed with warnings if there are no errors, otherwise rejected. */
  static AdmissionResult of(List<FieldError> errors, List<String> warnings) {
    return errors.isEmpty()
        ? new Allowed(JsonNodeFactory.instance.arrayNode(), warnings)
        : new Rejected(FieldError.shown(errors));
  }
}
