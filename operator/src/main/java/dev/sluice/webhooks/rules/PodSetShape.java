package dev.sluice.webhooks.rules;

import dev.sluice.webhooks.review.FieldPath;
import java.util.Map;

/**
 * The part of a pod set that topology validation needs.
 *
 * @param count number of pods
 * @param path path of the annotations
 * @param annotations annotations of the pod template
 */
public record PodSetShape(long count, FieldPath path, Map<String, String> annotations) {}
