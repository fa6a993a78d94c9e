package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.core.model.MapCopies;
import java.util.Map;

/**
 * A pod set of a job under review.
 *
 * @param path path of the annotations of its pods in the object, as the API server writes paths
 * @param count how many pods
 * @param annotations the annotations that its pods get
 */
public record ReviewedPodSet(String path, int count, Map<String, String> annotations) {

  /** Copies the map. */
  public ReviewedPodSet {
    annotations = MapCopies.of(annotations);
  }

  /** Of a pod template at a path. */
  public static ReviewedPodSet ofTemplate(String path, int count, JsonNode template) {
    return new ReviewedPodSet(
        path + ".metadata.annotations", count, JsonFields.annotations(template));
  }
}
