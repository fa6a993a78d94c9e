package dev.sluice.api.queueing;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The annotations about flavors by cost, beside prices (docs/prices.md#flavors-by-cost). */
public final class CostAnnotations {

  /** On a ResourceFlavor: how many interruptions of a Workload are expected in an hour. */
  public static final String INTERRUPTION_RATE = "sluice.dev/interruption-rate";

  /** On a ResourceFlavor: how much work its nodes do while speed 1 does one. */
  public static final String RELATIVE_SPEED = "sluice.dev/relative-speed";

  /** On a ClusterQueue: in which order flavors are tried. */
  public static final String FLAVOR_ORDER = "sluice.dev/flavor-order";

  /** On a job and its Workload: the most that it may cost for an hour. */
  public static final String MAX_PRICE = "sluice.dev/max-price";

  /** On a ClusterQueue, a job and its Workload: how long to wait for a cheaper flavor. */
  public static final String MAX_DELAY = "sluice.dev/max-delay-for-cheaper";

  /** What is allowed as a rate, after "must be". */
  public static final String RATE_RULE =
      "a number of interruptions an hour from 0 to 1000, such as 0.05";

  /** What is allowed as a speed, after "must be". */
  public static final String SPEED_RULE = "a decimal number from 0.001 to 1000, such as 1.5";

  /** What is allowed as a maximum price, after "must be". */
  public static final String PRICE_RULE =
      "a price per hour of the whole workload, such as 3.50/h, with up to 12 digits before and after"
          + " the point";

  /** What is allowed as a delay, after "must be". */
  public static final String DELAY_RULE = "a duration from 0s to 87600h, such as 2h";

  private static final int LONGEST = 40;
  private static final BigDecimal LARGEST = BigDecimal.valueOf(1000);
  private static final BigDecimal SLOWEST = new BigDecimal("0.001");
  private static final Pattern DECIMAL = Pattern.compile("[0-9]{1,4}(?:\\.[0-9]{1,12})?");
  private static final Pattern PRICE = Pattern.compile("([0-9]{1,12}(?:\\.[0-9]{1,12})?)/h");

  private CostAnnotations() {}

  /**
   * How fast the nodes of a ResourceFlavor are, and how often they are taken away.
   *
   * @param interruptionsPerHour empty if nothing that is allowed is said
   * @param speed empty if nothing that is allowed is said
   * @param faults by annotation, what is allowed instead of its value
   */
  public record OfFlavor(
      Optional<BigDecimal> interruptionsPerHour,
      Optional<BigDecimal> speed,
      Map<String, String> faults) {}

  /** Reads the annotations of a ResourceFlavor. */
  public static OfFlavor ofFlavor(@Nullable Map<String, String> annotations) {
    Map<String, String> faults = new LinkedHashMap<>();
    Optional<BigDecimal> rate =
        decimal(annotations, INTERRUPTION_RATE).filter(value -> value.compareTo(LARGEST) <= 0);
    if (rate.isEmpty() && says(annotations, INTERRUPTION_RATE)) {
      faults.put(INTERRUPTION_RATE, RATE_RULE);
    }
    Optional<BigDecimal> speed =
        decimal(annotations, RELATIVE_SPEED)
            .filter(value -> value.compareTo(SLOWEST) >= 0 && value.compareTo(LARGEST) <= 0);
    if (speed.isEmpty() && says(annotations, RELATIVE_SPEED)) {
      faults.put(RELATIVE_SPEED, SPEED_RULE);
    }
    return new OfFlavor(rate, speed, faults);
  }

  /** What is allowed in a job or Workload, by annotation with a wrong value. */
  public static Map<String, String> faultsOfJob(Map<String, String> annotations) {
    Map<String, String> faults = new LinkedHashMap<>();
    if (says(annotations, MAX_PRICE) && maxPrice(annotations).isEmpty()) {
      faults.put(MAX_PRICE, PRICE_RULE);
    }
    if (says(annotations, MAX_DELAY) && maxDelay(annotations).isEmpty()) {
      faults.put(MAX_DELAY, DELAY_RULE);
    }
    return faults;
  }

  /** What a whole Workload may cost for an hour; empty if nothing that is allowed is said. */
  public static Optional<BigDecimal> maxPrice(Map<String, String> annotations) {
    return text(annotations, MAX_PRICE)
        .map(PRICE::matcher)
        .filter(Matcher::matches)
        .map(matcher -> new BigDecimal(matcher.group(1)).stripTrailingZeros());
  }

  /** How long a Workload waits for a cheaper flavor; empty if nothing that is allowed is said. */
  public static Optional<Duration> maxDelay(Map<String, String> annotations) {
    return text(annotations, MAX_DELAY)
        .flatMap(
            value ->
                value.equals("0") || value.equals("0s")
                    ? Optional.of(Duration.ZERO)
                    : RunTimeAnnotations.parse(value));
  }

  /** What a job says, as it is written, if it is allowed. */
  public static Optional<String> allowedText(Map<String, String> annotations, String annotation) {
    return faultsOfJob(annotations).containsKey(annotation)
        ? Optional.empty()
        : Optional.ofNullable(annotations.get(annotation));
  }

  private static boolean says(@Nullable Map<String, String> annotations, String annotation) {
    return annotations != null && annotations.containsKey(annotation);
  }

  private static Optional<BigDecimal> decimal(
      @Nullable Map<String, String> annotations, String annotation) {
    return text(annotations, annotation)
        .filter(value -> DECIMAL.matcher(value).matches())
        .map(value -> new BigDecimal(value).stripTrailingZeros());
  }

  private static Optional<String> text(
      @Nullable Map<String, String> annotations, String annotation) {
    return Optional.ofNullable(annotations)
        .map(all -> all.get(annotation))
        .map(String::strip)
        .filter(value -> value.length() <= LONGEST);
  }
}
