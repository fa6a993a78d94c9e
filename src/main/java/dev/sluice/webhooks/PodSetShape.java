package dev.sluice.webhooks;

import java.util.Map;

/**
 * The part of a pod set that topology validation needs.
 *
 * @param count number of pods
 * @param path path of the annotations
 * @param annotations annotations of the pod template
 */
record PodSetShape(long count, FieldPath path, Map<String, String> annotations) {}
