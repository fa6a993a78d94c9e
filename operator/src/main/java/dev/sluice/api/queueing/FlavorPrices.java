package dev.sluice.api.queueing;

import dev.sluice.api.Quantities;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the resources of a flavor cost (docs/prices.md). Exact: no price is rounded.
 *
 * @param perHour by resource, what one unit of quota costs for an hour: a thousandth of a core for
 *     cpu, else one unit of the resource
 * @param fault what is wrong with the annotation, of which nothing counts then; empty if nothing is
 */
public record FlavorPrices(Map<String, BigDecimal> perHour, Optional<String> fault) {

  /** On a ResourceFlavor: the prices of its resources. */
  public static final String ANNOTATION = "sluice.dev/price";

  /** What is allowed, after "must be". */
  public static final String RULE =
      "prices by resource, such as cpu=0.031/h,memory=0.004/Gi/h,nvidia.com/gpu=2.10/h: at most 64,"
          + " each resource once, with up to 12 digits before and after the point";

  private static final int LONGEST = 16_384;
  private static final int MOST = 64;

  private static final Pattern PRICE =
      Pattern.compile(
          "([^=,\\s]{1,317})=([0-9]{1,12}(?:\\.[0-9]{1,12})?)(?:/([KMGTPE]i|[kMGTPE]))?/h");

  private static final FlavorPrices NONE = new FlavorPrices(Map.of(), Optional.empty());

  /** Copies the map. */
  public FlavorPrices {
    perHour = Map.copyOf(perHour);
  }

  /** The prices that the annotations of a ResourceFlavor say. */
  public static FlavorPrices of(@Nullable Map<String, String> annotations) {
    String text = annotations == null ? null : annotations.get(ANNOTATION);
    if (text == null || text.isBlank()) {
      return NONE;
    }
    if (text.length() > LONGEST) {
      return faulty("it has " + text.length() + " characters");
    }
    Map<String, BigDecimal> perHour = new TreeMap<>();
    for (String entry : text.split(",", -1)) {
      Matcher matcher = PRICE.matcher(entry.strip());
      if (!matcher.matches()) {
        return faulty("\"" + shortened(entry.strip()) + "\" is no price");
      }
      String resource = matcher.group(1);
      String unit = matcher.group(3);
      BigDecimal price = new BigDecimal(matcher.group(2));
      if (perHour.put(resource, perUnit(resource, unit, price)) != null) {
        return faulty(resource + " has two prices");
      }
      if (perHour.size() > MOST) {
        return faulty("it has more than " + MOST + " prices");
      }
    }
    return new FlavorPrices(perHour, Optional.empty());
  }

  /** The quotient has an end, because each unit is a product of twos and tens. */
  private static BigDecimal perUnit(String resource, @Nullable String unit, BigDecimal price) {
    BigDecimal units = unit == null ? BigDecimal.ONE : Quantities.parse("1" + unit);
    BigDecimal amount = resource.equals(Quantities.CPU) ? units.movePointRight(3) : units;
    BigDecimal exact = price.divide(amount);
    return exact.signum() == 0 ? BigDecimal.ZERO : exact.stripTrailingZeros();
  }

  private static FlavorPrices faulty(String why) {
    return new FlavorPrices(Map.of(), Optional.of("must be " + RULE + "; " + why));
  }

  private static String shortened(String text) {
    return text.length() > 80 ? text.substring(0, 80) + "…" : text;
  }
}
