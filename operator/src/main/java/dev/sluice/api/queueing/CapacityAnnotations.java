package dev.sluice.api.queueing;

import dev.sluice.api.Quantities;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The annotations of a CapacityProvider that counts nodes or worker clusters
 * (docs/dynamic-quota.md). What can't be read is named in {@code faults}; reading never throws, and
 * is bounded.
 *
 * @param floor the least that is told, by resource, in amounts of quota
 * @param ceiling the most that is told, by resource
 * @param reserve what is kept back, by resource: an amount, or a part of what there is
 * @param hysteresis how much of the amount told last a change must be to be told; from 0 to 1
 * @param largestWorker whether the largest worker cluster counts, and not all of them together
 * @param withoutForeignPods whether what pods request that no quota counts isn't told
 * @param faults what is wrong, each with the field and what is allowed
 */
public record CapacityAnnotations(
    Map<String, Long> floor,
    Map<String, Long> ceiling,
    Map<String, Reserve> reserve,
    BigDecimal hysteresis,
    boolean largestWorker,
    boolean withoutForeignPods,
    List<String> faults) {

  /** The least that is told of each flavor. */
  public static final String FLOOR = "sluice.dev/capacity-floor";

  /** The most that is told of each flavor. */
  public static final String CEILING = "sluice.dev/capacity-ceiling";

  /** What is kept back of each flavor. */
  public static final String RESERVE = "sluice.dev/capacity-reserve";

  /** The smallest change that is told. */
  public static final String HYSTERESIS = "sluice.dev/capacity-hysteresis";

  /** Whether all worker clusters count, or the largest one. */
  public static final String WORKERS = "sluice.dev/capacity-of-workers";

  /** What is subtracted of the nodes. */
  public static final String SUBTRACT = "sluice.dev/capacity-subtract";

  /** The value of {@link #SUBTRACT}: the requests of pods that no quota counts. */
  public static final String FOREIGN_PODS = "ForeignPods";

  private static final String SUM = "Sum";
  private static final String LARGEST = "Largest";
  private static final int LONGEST = 16_384;
  private static final int MOST = 64;
  private static final int SHOWN = 80;
  private static final Pattern ENTRY = Pattern.compile("([^=,\\s]{1,317})=([^=,\\s]{1,64})");
  private static final Pattern PERCENT = Pattern.compile("([0-9]{1,3}(?:\\.[0-9]{1,6})?)%");
  private static final BigDecimal ALL = BigDecimal.valueOf(100);
  private static final String AMOUNTS =
      "quantities of 0 or more by resource, such as cpu=100,memory=1Ti: at most 64, each resource"
          + " once";

  /**
   * What is kept back of a resource.
   *
   * @param amount of quota
   * @param part of what there is, from 0 to 1
   */
  public record Reserve(long amount, BigDecimal part) {}

  /** Copies the maps and the list. */
  public CapacityAnnotations {
    floor = Map.copyOf(floor);
    ceiling = Map.copyOf(ceiling);
    reserve = Map.copyOf(reserve);
    faults = List.copyOf(faults);
  }

  /** What these annotations say. */
  public static CapacityAnnotations of(@Nullable Map<String, String> annotations) {
    Map<String, String> given = annotations == null ? Map.of() : annotations;
    List<String> faults = new ArrayList<>();
    Map<String, Long> floor = amounts(given, FLOOR, faults);
    Map<String, Long> ceiling = amounts(given, CEILING, faults);
    floor.forEach(
        (resource, least) -> {
          Long most = ceiling.get(resource);
          if (most != null && least > most) {
            faults.add(
                fault(FLOOR, given.get(FLOOR), "at most the ceiling for \"" + resource + "\""));
          }
        });
    Map<String, Reserve> reserve = new TreeMap<>();
    entries(
            given,
            RESERVE,
            faults,
            "quantities or percentages by resource, such as cpu=8,memory=5%")
        .forEach(
            (resource, text) -> {
              try {
                Matcher percent = PERCENT.matcher(text);
                reserve.put(
                    resource,
                    percent.matches()
                        ? new Reserve(0, part(percent.group(1)))
                        : new Reserve(amount(resource, text), BigDecimal.ZERO));
              } catch (IllegalArgumentException e) {
                faults.add(
                    fault(
                        RESERVE,
                        given.get(RESERVE),
                        "quantities of 0 or more, or percentages up to 100%, by resource, such as"
                            + " cpu=8,memory=5%"));
              }
            });
    BigDecimal hysteresis = BigDecimal.ZERO;
    String text = given.get(HYSTERESIS);
    if (text != null) {
      Matcher percent = PERCENT.matcher(text.length() > LONGEST ? "" : text.strip());
      if (percent.matches() && new BigDecimal(percent.group(1)).compareTo(ALL) <= 0) {
        hysteresis = part(percent.group(1));
      } else {
        faults.add(fault(HYSTERESIS, text, "a percentage from 0% to 100%, such as 5%"));
      }
    }
    String workers = given.getOrDefault(WORKERS, SUM);
    if (!workers.equals(SUM) && !workers.equals(LARGEST)) {
      faults.add(fault(WORKERS, workers, SUM + " or " + LARGEST));
    }
    String subtracted = given.get(SUBTRACT);
    if (subtracted != null && !subtracted.equals(FOREIGN_PODS)) {
      faults.add(fault(SUBTRACT, subtracted, FOREIGN_PODS));
    }
    return new CapacityAnnotations(
        floor,
        ceiling,
        reserve,
        hysteresis,
        workers.equals(LARGEST),
        FOREIGN_PODS.equals(subtracted),
        faults);
  }

  /**
   * What is told of an amount of a resource: less the reserve, within floor and ceiling; and what
   * was told before, if that is within them too and the difference is too small.
   *
   * @param before what was told before; null if nothing was
   */
  public long told(String resource, @Nullable Long before, long amount) {
    long now = adjusted(resource, amount);
    if (before == null || before <= 0 || clamped(resource, before) != before) {
      return now;
    }
    BigDecimal change = BigDecimal.valueOf(now).subtract(BigDecimal.valueOf(before)).abs();
    return change.compareTo(BigDecimal.valueOf(before).multiply(hysteresis)) < 0 ? before : now;
  }

  private long adjusted(String resource, long amount) {
    Reserve kept = reserve.getOrDefault(resource, new Reserve(0, BigDecimal.ZERO));
    long part =
        BigDecimal.valueOf(amount)
            .multiply(kept.part())
            .setScale(0, RoundingMode.UP)
            .longValueExact();
    return clamped(resource, Math.max(0, amount - Math.max(part, kept.amount())));
  }

  private long clamped(String resource, long amount) {
    return Math.min(
        Math.max(amount, floor.getOrDefault(resource, 0L)),
        ceiling.getOrDefault(resource, Long.MAX_VALUE));
  }

  private static Map<String, Long> amounts(
      Map<String, String> annotations, String name, List<String> faults) {
    Map<String, Long> amounts = new TreeMap<>();
    for (Map.Entry<String, String> each : entries(annotations, name, faults, AMOUNTS).entrySet()) {
      try {
        amounts.put(each.getKey(), amount(each.getKey(), each.getValue()));
      } catch (IllegalArgumentException e) {
        faults.add(fault(name, annotations.get(name), AMOUNTS));
        return Map.of();
      }
    }
    return amounts;
  }

  private static Map<String, String> entries(
      Map<String, String> annotations, String name, List<String> faults, String rule) {
    String text = annotations.get(name);
    if (text == null || text.isBlank()) {
      return Map.of();
    }
    Map<String, String> entries = new TreeMap<>();
    if (text.length() <= LONGEST) {
      for (String entry : text.split(",", -1)) {
        Matcher matcher = ENTRY.matcher(entry.strip());
        if (!matcher.matches() || entries.put(matcher.group(1), matcher.group(2)) != null) {
          entries.clear();
          break;
        }
      }
    }
    if (entries.isEmpty() || entries.size() > MOST) {
      faults.add(fault(name, text, rule));
      return Map.of();
    }
    return entries;
  }

  private static long amount(String resource, String text) {
    long amount = Quantities.amount(resource, text);
    if (amount < 0) {
      throw new IllegalArgumentException("negative");
    }
    return amount;
  }

  private static BigDecimal part(String percent) {
    BigDecimal number = new BigDecimal(percent);
    if (number.compareTo(ALL) > 0) {
      throw new IllegalArgumentException("more than all");
    }
    return number.movePointLeft(2);
  }

  private static String fault(String name, @Nullable String text, String rule) {
    String shown = String.valueOf(text);
    return "metadata.annotations[%s]: \"%s\": must be %s"
        .formatted(name, shown.length() > SHOWN ? shown.substring(0, SHOWN) + "…" : shown, rule);
  }
}
