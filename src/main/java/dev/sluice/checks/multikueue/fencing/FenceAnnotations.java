package dev.sluice.checks.multikueue.fencing;

import dev.sluice.api.KueueConstants;
import dev.sluice.workload.CachedWorkload;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.zip.CRC32;

/** How fences are written down in a worker cluster: names and annotations. */
public final class FenceAnnotations {

  /** On a copy of a Workload: how long after the last renewal it is switched off, as PT14M10S. */
  public static final String AFTER = "sluice.dev/fence-after";

  /** Label of a manager's Lease: which manager. */
  public static final String ORIGIN = KueueConstants.MULTIKUEUE_ORIGIN;

  private static final String PREFIX = "sluice-fence-";

  private FenceAnnotations() {}

  /** The name of the Lease of a manager in the operator's namespace of its workers. */
  public static String lease(String origin) {
    String name = origin.toLowerCase(Locale.ROOT).replace('_', '-');
    if (name.equals(origin)) {
      return PREFIX + name;
    }
    CRC32 sum = new CRC32();
    sum.update(origin.getBytes(StandardCharsets.UTF_8));
    return PREFIX + name + "-" + HexFormat.of().toHexDigits((int) sum.getValue());
  }

  /** When a Workload is to be switched off after its manager's last renewal, if it is fenced. */
  static Optional<Duration> after(CachedWorkload workload) {
    String text = workload.annotations().getOrDefault(AFTER, "");
    if (text.isEmpty() || !workload.labels().containsKey(ORIGIN)) {
      return Optional.empty();
    }
    try {
      return Optional.of(Duration.parse(text));
    } catch (DateTimeParseException notOurs) {
      return Optional.empty();
    }
  }
}
