package dev.sluice.kubequeue;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Map;
import java.util.TreeMap;

/** The annotations of objects that were made from a quota: they say which. */
final class SourceMarks {

  /** In whose name objects are written. */
  static final String FIELD_OWNER = "sluice-kubequeue";

  /** Marks a LocalQueue that was made because a job named the quota by a label. */
  static final String ON_DEMAND = "sluice.dev/on-demand";

  private static final String PREFIX = "sluice.dev/source-";

  private SourceMarks() {}

  /** The marks of an object; empty if it has none. */
  static Map<String, String> of(HasMetadata object) {
    Map<String, String> marks = new TreeMap<>();
    if (object.getMetadata().getAnnotations() != null) {
      object
          .getMetadata()
          .getAnnotations()
          .forEach(
              (key, value) -> {
                if (key.startsWith(PREFIX) && value != null) {
                  marks.put(key, value);
                }
              });
    }
    return marks;
  }

  private static String value(HasMetadata object, String key) {
    return of(object).getOrDefault(PREFIX + key, "");
  }

  /** Whether the object was made from a quota. */
  static boolean isMade(HasMetadata object) {
    return !value(object, "kind").isEmpty();
  }

  /** Whether the quota that it was made from is gone. */
  static boolean isRemoved(HasMetadata object) {
    return !value(object, "removed").isEmpty();
  }

  /** Whether it is there because a job named the quota. */
  static boolean isOnDemand(HasMetadata object) {
    return object.getMetadata().getAnnotations() != null
        && object.getMetadata().getAnnotations().containsKey(ON_DEMAND);
  }

  /** The full name in a tree; empty outside of trees. */
  static String path(HasMetadata object) {
    return value(object, "path");
  }

  /** The name of the quota: the last part of the path, or the name of the source. */
  static String quota(HasMetadata object) {
    String path = path(object);
    return path.isEmpty() ? value(object, "name") : path.substring(path.lastIndexOf('/') + 1);
  }
}
