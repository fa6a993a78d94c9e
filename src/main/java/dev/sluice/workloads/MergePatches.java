package dev.sluice.workloads;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;

/** JSON merge patches (RFC 7386), as far as one has to know whether one was applied. */
final class MergePatches {

  private MergePatches() {}

  /** Whether applying {@code patch} to {@code current} would change nothing. */
  static boolean isContained(JsonNode patch, JsonNode current) {
    if (!patch.isObject()) {
      return patch.equals(current);
    }
    if (!current.isObject() && !(current.isMissingNode() && isOnlyRemovals(patch))) {
      return false;
    }
    for (Map.Entry<String, JsonNode> field : patch.properties()) {
      JsonNode now = current.path(field.getKey());
      JsonNode wanted = field.getValue();
      boolean same =
          wanted.isNull() ? now.isMissingNode() || now.isNull() : isContained(wanted, now);
      if (!same) {
        return false;
      }
    }
    return true;
  }

  private static boolean isOnlyRemovals(JsonNode patch) {
    for (JsonNode value : patch) {
      if (!value.isNull()) {
        return false;
      }
    }
    return true;
  }
}
