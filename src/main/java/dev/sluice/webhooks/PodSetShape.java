package dev.sluice.webhooks;

import java.util.Map;

/**
 * A pod set of a job, as far as rules on topology are concerned.
 *
 * @param count of its pods
 * @param path of the annotations
 * @param annotations of its pod template
 */
record PodSetShape(long count, FieldPath path, Map<String, String> annotations) {}
