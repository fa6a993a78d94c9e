package dev.sluice.webhooks.registration;

import dev.sluice.api.KueueConstants;
import dev.sluice.webhooks.kinds.WebhookKind;
import dev.sluice.webhooks.rules.MisnamedQueueLabels;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Match conditions of the webhooks for jobs. No expression may fail for any object: a failure would
 * reject the write.
 */
final class JobMatchConditions {

  /** Name of the condition that a job requests queueing. */
  static final String REQUESTS_QUEUEING = "names-a-queue";

  private static final String NAMES_A_QUEUE =
      hasLabel("object", KueueConstants.QUEUE_NAME)
          + " || "
          + hasAnnotation("object", KueueConstants.QUEUE_NAME);

  /** Pods name their gates; pods of a started job carry keys that need no review. */
  private static final String IS_GATED =
      hasAnnotation("object", KueueConstants.POD_SUSPENDING_PARENT);

  private static final String SPEAKS_TO_US =
      "[object, oldObject].exists(o, o != null && ("
          + "(has(o.metadata.labels) && o.metadata.labels.exists(k, k.startsWith('%1$s/')"
          + " || k in [%2$s]))"
          + " || (has(o.metadata.annotations)"
          + " && o.metadata.annotations.exists(k, k.startsWith('%1$s/')))"
          + " || (has(o.spec) && has(o.spec.template) && has(o.spec.template.metadata)"
          + " && has(o.spec.template.metadata.annotations)"
          + " && o.spec.template.metadata.annotations.exists(k, k.startsWith('%1$s/')))))";

  private static final String POD_SPEAKS_TO_US =
      "[object, oldObject].exists(o, o != null && ("
          + "(has(o.metadata.labels) && [%s].exists(k, k in o.metadata.labels))"
          + " || (has(o.metadata.annotations) && [%s].exists(k, k in o.metadata.annotations))))";

  /** A resize of a pod that was started by the operator, or that a Job controls. */
  private static final String RESIZES =
      " || (has(request.subResource) && request.subResource == 'resize' && ("
          + "(has(object.metadata.labels)"
          + " && object.metadata.labels.exists(k, k.startsWith('%1$s/')))"
          + " || (has(object.metadata.ownerReferences)"
          + " && object.metadata.ownerReferences.exists(r, r.kind == 'Job'))))";

  private JobMatchConditions() {}

  /** The expression that an object of this kind requests queueing. */
  static String requestsQueueing(WebhookKind kind) {
    return kind.isPod() ? NAMES_A_QUEUE + " || " + IS_GATED : NAMES_A_QUEUE;
  }

  /**
   * The expression that an object of this kind has, or had, a label or annotation that is
   * validated.
   */
  static String usesOurKeys(WebhookKind kind) {
    return kind.isPod()
        ? POD_SPEAKS_TO_US.formatted(
                quoted(
                    KueueConstants.QUEUE_NAME,
                    KueueConstants.MANAGED,
                    KueueConstants.POD_GROUP_NAME,
                    KueueConstants.PREBUILT_WORKLOAD_NAME,
                    KueueConstants.MAX_EXEC_TIME_SECONDS),
                quoted(
                    KueueConstants.QUEUE_NAME,
                    KueueConstants.POD_SUSPENDING_PARENT,
                    KueueConstants.POD_GROUP_NAME,
                    KueueConstants.POD_GROUP_TOTAL_COUNT,
                    KueueConstants.PREBUILT_WORKLOAD_NAME,
                    KueueConstants.ADMISSION_GATED_BY))
            + RESIZES.formatted(KueueConstants.GROUP)
        : SPEAKS_TO_US.formatted(
            KueueConstants.GROUP,
            quoted(MisnamedQueueLabels.WITHOUT_PREFIX.toArray(String[]::new)));
  }

  private static String quoted(String... keys) {
    return List.of(keys).stream().map(key -> "'" + key + "'").collect(Collectors.joining(", "));
  }

  private static String hasLabel(String object, String key) {
    return has(object, "labels", key);
  }

  private static String hasAnnotation(String object, String key) {
    return has(object, "annotations", key);
  }

  private static String has(String object, String map, String key) {
    return "(has(%1$s.metadata.%2$s) && '%3$s' in %1$s.metadata.%2$s)".formatted(object, map, key);
  }
}
