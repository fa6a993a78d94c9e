package dev.sluice.api.queueing;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The flavors whose nodes were asked for in vain, as an annotation of a Workload says: for it they
 * are left out until a time (docs/node-capacity.md#the-next-flavor). Anybody may have written the
 * annotation: an entry that can't be read doesn't count.
 *
 * @param until by flavor, when it counts again
 */
public record RefusedFlavors(Map<String, Instant> until) {

  /** The annotation: entries {@code flavor=time}, separated by commas. */
  public static final String ANNOTATION = "sluice.dev/flavors-without-nodes";

  /** As many flavors as a ClusterQueue may have, with long names. */
  private static final int LONGEST = 32_768;

  /** Copies the map, in the order of the names. */
  public RefusedFlavors {
    until = Collections.unmodifiableMap(new TreeMap<>(until));
  }

  /** Reads the annotations of a Workload. */
  public static RefusedFlavors of(Map<String, String> annotations) {
    Map<String, Instant> until = new TreeMap<>();
    String text = annotations.getOrDefault(ANNOTATION, "");
    for (String entry :
        text.isEmpty() || text.length() > LONGEST ? new String[0] : text.split(",")) {
      int separator = entry.indexOf('=');
      if (separator > 0) {
        try {
          until.put(
              entry.substring(0, separator).strip(),
              Instant.parse(entry.substring(separator + 1).strip()));
        } catch (DateTimeParseException notATime) {
          continue;
        }
      }
    }
    return new RefusedFlavors(until);
  }

  /** The names of the flavors. */
  public Set<String> names() {
    return until.keySet();
  }

  /** These, and others until a time, in whole seconds. */
  public RefusedFlavors with(Collection<String> flavors, Instant time) {
    Map<String, Instant> all = new TreeMap<>(until);
    flavors.forEach(flavor -> all.put(flavor, time.truncatedTo(ChronoUnit.SECONDS)));
    return new RefusedFlavors(all);
  }

  /** Those that are still left out at a time. */
  public RefusedFlavors after(Instant now) {
    return new RefusedFlavors(
        until.entrySet().stream()
            .filter(entry -> entry.getValue().isAfter(now))
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
  }

  /** These, each until a time at the latest, in whole seconds. */
  public RefusedFlavors noLaterThan(Instant time) {
    Instant latest = time.truncatedTo(ChronoUnit.SECONDS);
    Map<String, Instant> all = new TreeMap<>(until);
    all.replaceAll((flavor, each) -> each.isAfter(latest) ? latest : each);
    return new RefusedFlavors(all);
  }

  /** When the first of them counts again; empty without any. */
  public Optional<Instant> earliest() {
    return until.values().stream().min(Instant::compareTo);
  }

  /** The value of the annotation; empty without flavors. */
  public String text() {
    return until.entrySet().stream()
        .map(entry -> entry.getKey() + "=" + entry.getValue())
        .collect(Collectors.joining(","));
  }
}
