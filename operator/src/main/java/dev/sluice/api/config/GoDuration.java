package dev.sluice.api.config;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads and writes durations as Go and Kubernetes write them: {@code 1h30m}, {@code 1.5s}, {@code
 * 0s}.
 */
public final class GoDuration {

  private static final Pattern WHOLE =
      Pattern.compile("[-+]?(?:(?:\\d+\\.?\\d*|\\.\\d+)[^\\d.]+)+");
  private static final Pattern PART = Pattern.compile("(\\d+\\.?\\d*|\\.\\d+)([^\\d.]+)");
  private static final BigDecimal LONGEST = BigDecimal.valueOf(Long.MAX_VALUE);
  private static final String ALLOWED =
      "a duration of numbers with the units h, m, s, ms, us or ns, such as 1h30m, 1.5s or 0s";
  private static final Map<String, Long> NANOS =
      Map.of(
          "ns", 1L,
          "us", 1_000L,
          "µs", 1_000L,
          "μs", 1_000L,
          "ms", 1_000_000L,
          "s", 1_000_000_000L,
          "m", 60_000_000_000L,
          "h", 3_600_000_000_000L);

  private GoDuration() {}

  /**
   * The duration that {@code text} says, to the nanosecond (what is finer is cut off).
   *
   * @throws IllegalArgumentException with a message that says what is wrong with the text and what
   *     is allowed; about 292 years is the longest
   */
  public static Duration parse(String text) {
    if (text.equals("0") || text.equals("+0") || text.equals("-0")) {
      return Duration.ZERO;
    }
    if (text.matches("[-+]?(\\d+\\.?\\d*|\\.\\d+)")) {
      throw wrong(text, "has no unit");
    }
    if (!WHOLE.matcher(text).matches()) {
      throw wrong(text, text.matches(".*\\d") ? "ends without a unit" : "is not a duration");
    }
    BigDecimal nanos = BigDecimal.ZERO;
    Matcher part = PART.matcher(text);
    while (part.find()) {
      Long unit = NANOS.get(part.group(2));
      if (unit == null) {
        throw wrong(text, "has the unknown unit \"" + part.group(2) + "\"");
      }
      nanos = nanos.add(new BigDecimal(part.group(1)).multiply(BigDecimal.valueOf(unit)));
    }
    nanos = nanos.setScale(0, RoundingMode.DOWN);
    if (nanos.compareTo(LONGEST) > 0) {
      throw wrong(text, "is longer than 2562047h47m16.854775807s");
    }
    Duration duration = Duration.ofNanos(nanos.longValueExact());
    return text.startsWith("-") ? duration.negated() : duration;
  }

  /** The shortest text that {@link #parse} reads as this duration: {@code 1h30m}, {@code 500ms}. */
  public static String format(Duration duration) {
    if (duration.isZero()) {
      return "0s";
    }
    if (duration.isNegative()) {
      return "-" + format(duration.negated());
    }
    if (duration.compareTo(Duration.ofSeconds(1)) < 0) {
      return fraction(duration.toNanos());
    }
    StringBuilder text = new StringBuilder();
    if (duration.toHours() > 0) {
      text.append(duration.toHours()).append('h');
    }
    if (duration.toMinutesPart() > 0) {
      text.append(duration.toMinutesPart()).append('m');
    }
    BigDecimal seconds =
        BigDecimal.valueOf(duration.toSecondsPart())
            .add(BigDecimal.valueOf(duration.toNanosPart(), 9));
    if (seconds.signum() > 0) {
      text.append(seconds.stripTrailingZeros().toPlainString()).append('s');
    }
    return text.toString();
  }

  private static String fraction(long nanos) {
    if (nanos % 1_000 != 0) {
      return nanos + "ns";
    }
    return nanos % 1_000_000 == 0 ? nanos / 1_000_000 + "ms" : nanos / 1_000 + "us";
  }

  private static IllegalArgumentException wrong(String text, String what) {
    return new IllegalArgumentException("\"" + text + "\" " + what + "; allowed: " + ALLOWED);
  }
}
