package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.List;

/** What is said about a request. */
public sealed interface AdmissionResult {

  /**
   * It may go on.
   *
   * @param patch JSON patch operations, empty when nothing is to be changed
   * @param warnings shown to the user
   */
  record Allowed(ArrayNode patch, List<String> warnings) implements AdmissionResult {}

  /**
   * It may not.
   *
   * @param errors at least one
   */
  record Rejected(List<FieldError> errors) implements AdmissionResult {}

  /** Allowed as it is. */
  static AdmissionResult allowed() {
    return new Allowed(JsonNodeFactory.instance.arrayNode(), List.of());
  }

  /** Allowed with the changes. */
  static AdmissionResult patched(JsonPatch patch) {
    return new Allowed(patch.operations(), List.of());
  }

  /** Allowed if there is no complaint. */
  static AdmissionResult of(List<FieldError> errors) {
    return errors.isEmpty() ? allowed() : new Rejected(errors);
  }
}
