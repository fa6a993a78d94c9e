package dev.sluice.api;

import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How a job says which queue it wants. */
public final class QueueNames {

  /** The LocalQueue, and the WorkloadPriorityClass, that are taken when a job names none. */
  public static final String DEFAULT = "default";

  private QueueNames() {}

  /**
   * The LocalQueue that an object with these labels and annotations names: the label, or, where it
   * is absent or empty, the annotation of the same key, which is how the oldest manifests say it.
   * Empty when neither says anything.
   */
  public static Optional<String> of(
      @Nullable Map<String, String> labels, @Nullable Map<String, String> annotations) {
    return value(labels).or(() -> value(annotations));
  }

  private static Optional<String> value(@Nullable Map<String, String> map) {
    return map == null
        ? Optional.empty()
        : Optional.ofNullable(map.get(KueueConstants.QUEUE_NAME)).filter(name -> !name.isEmpty());
  }
}
