package dev.sluice.api.queueing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonMappers;
import java.time.Duration;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * How long the pods of one job may take to be ready, as its annotation {@code
 * kueue.x-k8s.io/wait-for-pods-ready} says
 * (docs/workload-lifecycle.md#time-outs-of-a-single-workload).
 *
 * @param timeout from admission to readiness; empty: as configured
 * @param recoveryTimeout from lost readiness to readiness, zero: forever; empty: as configured
 */
public record PodsReadyTimeouts(Optional<Duration> timeout, Optional<Duration> recoveryTimeout) {

  /** What the annotation may say. */
  public static final String RULE =
      "a JSON object with timeoutSeconds (from 1 on) and recoveryTimeoutSeconds (from 0 on), whole"
          + " numbers of at most "
          + Integer.MAX_VALUE;

  private static final String TIMEOUT = "timeoutSeconds";
  private static final String RECOVERY = "recoveryTimeoutSeconds";
  private static final Set<String> FIELDS = Set.of(TIMEOUT, RECOVERY);

  /** What the annotations of a job or Workload say; empty if nothing, or nothing valid. */
  public static Optional<PodsReadyTimeouts> of(Map<String, String> annotations) {
    return Optional.ofNullable(annotations.get(KueueConstants.WAIT_FOR_PODS_READY))
        .flatMap(PodsReadyTimeouts::parse);
  }

  /** The value of the annotation; empty if it breaks {@link #RULE}. */
  public static Optional<PodsReadyTimeouts> parse(String text) {
    JsonNode json;
    try {
      json = JsonMappers.JSON.readTree(text);
    } catch (JsonProcessingException notJson) {
      return Optional.empty();
    }
    return json instanceof ObjectNode object && isValid(object)
        ? Optional.of(new PodsReadyTimeouts(seconds(object, TIMEOUT), seconds(object, RECOVERY)))
        : Optional.empty();
  }

  private static boolean isValid(ObjectNode object) {
    for (Iterator<String> names = object.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      JsonNode value = object.path(name);
      boolean fits =
          value.isIntegralNumber()
              && value.canConvertToInt()
              && value.asInt() >= (name.equals(TIMEOUT) ? 1 : 0);
      if (!FIELDS.contains(name) || !fits) {
        return false;
      }
    }
    return true;
  }

  private static Optional<Duration> seconds(ObjectNode object, String field) {
    return object.has(field)
        ? Optional.of(Duration.ofSeconds(object.path(field).asInt()))
        : Optional.empty();
  }
}
