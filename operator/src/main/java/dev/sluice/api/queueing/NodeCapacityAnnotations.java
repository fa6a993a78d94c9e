package dev.sluice.api.queueing;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the annotations of an AdmissionCheck of the controller {@link #CONTROLLER} say
 * (docs/node-capacity.md#the-check). A value that isn't allowed counts as absent, and is a fault.
 *
 * @param means by which objects nodes are asked for
 * @param timeout how long nodes may take from the reservation of quota on
 * @param retries how many refusals of a Workload's nodes are followed by another attempt
 * @param image the image of placeholder pods
 * @param faults by annotation, what is allowed instead of its value
 */
public record NodeCapacityAnnotations(
    Means means, Duration timeout, int retries, String image, Map<String, String> faults) {

  /** The controller of the checks, as {@code spec.controllerName} names it. */
  public static final String CONTROLLER = "sluice.dev/node-capacity";

  /** By which objects nodes are asked for. */
  public static final String MEANS = "sluice.dev/node-capacity-means";

  /** How long nodes may take. */
  public static final String TIMEOUT = "sluice.dev/node-capacity-timeout";

  /** How many refusals are followed by another attempt. */
  public static final String RETRIES = "sluice.dev/node-capacity-retries";

  /** The image of placeholder pods. */
  public static final String IMAGE = "sluice.dev/node-capacity-image";

  /** Label of the objects that ask for nodes, such as placeholder pods. */
  public static final String PLACEHOLDER = "sluice.dev/placeholder";

  /** The PriorityClass of placeholder pods. */
  public static final String PLACEHOLDER_PRIORITY = "sluice-placeholder";

  /** The image of placeholder pods of a check that names none. */
  public static final String DEFAULT_IMAGE = "registry.k8s.io/pause:3.10";

  private static final int MOST_RETRIES = 1000;
  private static final int LONGEST_IMAGE = 512;
  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,4}");
  private static final Pattern IMAGE_NAME = Pattern.compile("[a-zA-Z0-9][-a-zA-Z0-9._/:@]*");
  private static final NodeCapacityAnnotations DEFAULT =
      new NodeCapacityAnnotations(Means.AUTO, Duration.ofMinutes(10), 3, DEFAULT_IMAGE, Map.of());

  /** Objects that an autoscaler makes nodes for. */
  public enum Means {
    /** CapacityBuffers where the API server serves them, else placeholder pods. */
    AUTO,
    /** CapacityBuffers. */
    CAPACITY_BUFFER,
    /** Placeholder pods. */
    PLACEHOLDERS
  }

  /** Copies the map. */
  public NodeCapacityAnnotations {
    faults = Map.copyOf(faults);
  }

  /** Reads the annotations of a check. */
  public static NodeCapacityAnnotations of(@Nullable Map<String, String> annotations) {
    Map<String, String> values = annotations == null ? Map.of() : annotations;
    Map<String, String> faults = new LinkedHashMap<>();
    Means means = means(values.get(MEANS), faults);
    Duration timeout = timeout(values.get(TIMEOUT), faults);
    int retries = retries(values.get(RETRIES), faults);
    return new NodeCapacityAnnotations(
        means, timeout, retries, image(values.get(IMAGE), faults), faults);
  }

  private static Means means(@Nullable String value, Map<String, String> faults) {
    return switch (value) {
      case null -> DEFAULT.means();
      case "Auto" -> Means.AUTO;
      case "CapacityBuffer" -> Means.CAPACITY_BUFFER;
      case "Placeholders" -> Means.PLACEHOLDERS;
      default -> {
        faults.put(MEANS, "Auto, CapacityBuffer or Placeholders");
        yield DEFAULT.means();
      }
    };
  }

  private static Duration timeout(@Nullable String value, Map<String, String> faults) {
    Duration timeout =
        value == null ? DEFAULT.timeout() : RunTimeAnnotations.parse(value).orElse(Duration.ZERO);
    if (timeout.compareTo(Duration.ofSeconds(1)) < 0) {
      faults.put(TIMEOUT, RunTimeAnnotations.LIMIT_RULE);
      return DEFAULT.timeout();
    }
    return timeout;
  }

  private static int retries(@Nullable String value, Map<String, String> faults) {
    if (value == null) {
      return DEFAULT.retries();
    }
    int retries = NUMBER.matcher(value).matches() ? Integer.parseInt(value) : MOST_RETRIES + 1;
    if (retries > MOST_RETRIES) {
      faults.put(RETRIES, "a whole number from 0 to " + MOST_RETRIES);
      return DEFAULT.retries();
    }
    return retries;
  }

  private static String image(@Nullable String value, Map<String, String> faults) {
    if (value == null) {
      return DEFAULT.image();
    }
    if (value.length() > LONGEST_IMAGE || !IMAGE_NAME.matcher(value).matches()) {
      faults.put(IMAGE, "the name of an image with at most " + LONGEST_IMAGE + " characters");
      return DEFAULT.image();
    }
    return value;
  }
}
