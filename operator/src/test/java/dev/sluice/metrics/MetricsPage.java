package dev.sluice.metrics;

import dev.sluice.kube.leader.ReplicaRole;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What the page of metrics says: each row of its tables is a metric with its type and labels. Rows
 * below the heading "Not there yet" name metrics that must not be served.
 */
public final class MetricsPage {

  private static final Pattern ROW =
      Pattern.compile("\\| `([a-z_]+)` \\| (counter|gauge|histogram) \\| (.*?) \\| .* \\|");
  private static final Pattern MISSING = Pattern.compile("\\| `([a-z_]+)` \\| .* \\|");
  private static final Pattern LABEL = Pattern.compile("`([a-z_]+)`");
  private static final Pattern TYPE = Pattern.compile("# TYPE (\\S+) (\\S+)");
  private static final Pattern SAMPLE = Pattern.compile("([a-zA-Z_:][\\w:]*)(?:\\{(.*)})? \\S+");
  private static final Pattern SAMPLE_LABEL = Pattern.compile("(\\w+)=\"(?:[^\"\\\\]|\\\\.)*\"");
  private static final Pattern PART = Pattern.compile("_(?:bucket|count|sum)$");

  /** The page says of these that they have no label for the role of the replica. */
  private static final Pattern WITHOUT_ROLE =
      Pattern.compile(
          "kueue_build_info|sluice_installation_fault|sluice_certificate_expiry_timestamp_seconds|(?:sluice_journal|rest_client|controller_runtime|workqueue)_.*");

  /** The page names these groups and not their members. */
  private static final Set<String> GROUPS = Set.of("jvm_", "process_", "system_");

  private final Map<String, Family> documented;
  private final Set<String> missing;

  /** The type of a metric and the label sets of its samples; {@code le} is left out. */
  private record Family(String type, Set<Set<String>> labels) {}

  private MetricsPage(Map<String, Family> documented, Set<String> missing) {
    this.documented = documented;
    this.missing = missing;
  }

  /** The project's page. */
  public static MetricsPage read() throws IOException {
    return of(Files.readString(Path.of("docs/metrics.md")));
  }

  static MetricsPage of(String page) {
    String[] parts = page.split("(?m)^## Not there yet$", 2);
    Map<String, Family> documented = new LinkedHashMap<>();
    for (String line : parts[0].lines().toList()) {
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        Set<String> labels = names(LABEL, row.group(3));
        if (!WITHOUT_ROLE.matcher(row.group(1)).matches()) {
          labels.add(ReplicaRole.LABEL);
        }
        documented.put(row.group(1), new Family(row.group(2), Set.of(labels)));
      } else if (line.startsWith("| `")) {
        throw new IllegalArgumentException("not a row of a metric: " + line);
      }
    }
    Set<String> missing = new TreeSet<>();
    if (parts.length > 1) {
      parts[1]
          .lines()
          .map(MISSING::matcher)
          .filter(Matcher::matches)
          .forEach(row -> missing.add(row.group(1)));
    }
    return new MetricsPage(documented, missing);
  }

  /** The names of all metrics that are served according to the page. */
  public Set<String> names() {
    return new TreeSet<>(documented.keySet());
  }

  /**
   * What differs between the page and the body of a scrape, one line each; empty if nothing does.
   *
   * @param prefix only metrics are compared whose names begin so
   * @param absent metrics of the page that this scrape must not have
   */
  public List<String> differences(String scrape, String prefix, Set<String> absent) {
    Map<String, Family> served = served(scrape);
    List<String> differences = new ArrayList<>();
    documented.forEach(
        (name, family) -> {
          if (!name.startsWith(prefix)) {
            return;
          }
          Family found = served.get(name);
          if (absent.contains(name)) {
            if (found != null) {
              differences.add(name + ": said not to be served here, and is");
            }
          } else if (found == null) {
            differences.add(name + ": documented, not served");
          } else if (!found.equals(family)) {
            differences.add(name + ": documented as " + family + ", served as " + found);
          }
        });
    served.keySet().stream()
        .filter(name -> name.startsWith(prefix) && !documented.containsKey(name))
        .filter(name -> GROUPS.stream().noneMatch(name::startsWith))
        .map(
            name ->
                name
                    + (missing.contains(name)
                        ? ": served, documented as not there yet"
                        : ": served, not documented"))
        .forEach(differences::add);
    return differences;
  }

  /** The families of a scrape that have at least one sample. */
  private static Map<String, Family> served(String scrape) {
    Map<String, String> types = new LinkedHashMap<>();
    Map<String, Family> families = new LinkedHashMap<>();
    for (String line : scrape.lines().toList()) {
      Matcher type = TYPE.matcher(line);
      Matcher sample = SAMPLE.matcher(line);
      if (type.matches()) {
        types.put(type.group(1), type.group(2));
      } else if (sample.matches()) {
        String name = sample.group(1);
        String family = types.containsKey(name) ? name : PART.matcher(name).replaceFirst("");
        Set<String> labels =
            sample.group(2) == null ? new HashSet<>() : names(SAMPLE_LABEL, sample.group(2));
        labels.remove("le");
        families
            .computeIfAbsent(
                family, key -> new Family(types.getOrDefault(key, "untyped"), new HashSet<>()))
            .labels()
            .add(labels);
      }
    }
    return families;
  }

  private static Set<String> names(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map((MatchResult result) -> result.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
