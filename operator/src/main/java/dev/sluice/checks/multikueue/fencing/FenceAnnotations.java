package dev.sluice.checks.multikueue.fencing;

import dev.sluice.api.KueueConstants;
import dev.sluice.workload.record.CachedWorkload;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.zip.CRC32;

/** Names and annotations of fences in a worker cluster. */
public final class FenceAnnotations {

  /**
   * Annotation of a remote Workload: how long after the manager's last renewal the Workload is
   * deactivated, such as PT14M10S.
   */
  public static final String AFTER = "sluice.dev/fence-after";

  /** Label of a manager's Lease: the origin of the manager. */
  public static final String ORIGIN = KueueConstants.MULTIKUEUE_ORIGIN;

  /** No manager waits for longer; a time so far ahead can be reckoned with. */
  private static final Duration LONGEST = Duration.ofDays(3650);

  private static final String PREFIX = "sluice-fence-";

  private FenceAnnotations() {}

  /** The name of a manager's Lease in the operator's namespace of its workers. */
  public static String lease(String origin) {
    String name = origin.toLowerCase(Locale.ROOT).replace('_', '-');
    if (name.equals(origin)) {
      return PREFIX + name;
    }
    CRC32 sum = new CRC32();
    sum.update(origin.getBytes(StandardCharsets.UTF_8));
    return PREFIX + name + "-" + HexFormat.of().toHexDigits((int) sum.getValue());
  }

  /**
   * How long after its manager's last renewal a Workload is deactivated, ten years at most; empty
   * if it is not fenced.
   */
  static Optional<Duration> after(CachedWorkload workload) {
    String text = workload.annotations().getOrDefault(AFTER, "");
    if (text.isEmpty() || !workload.labels().containsKey(ORIGIN)) {
      return Optional.empty();
    }
    try {
      return Optional.of(Duration.parse(text))
          .filter(after -> !after.isNegative())
          .map(after -> after.compareTo(LONGEST) < 0 ? after : LONGEST);
    } catch (DateTimeParseException notOurs) {
      return Optional.empty();
    }
  }
}
