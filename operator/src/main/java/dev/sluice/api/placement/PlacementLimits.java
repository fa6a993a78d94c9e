package dev.sluice.api.placement;

import dev.sluice.api.KubernetesNames;
import dev.sluice.api.TextLimits;
import dev.sluice.api.placement.PlacementLimits.ClusterLabelSelector;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.LabelSelector.LabelRequirement.Operator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which worker clusters a job may go to, by what its annotations say. A limit that can't be read
 * allows none.
 *
 * @param texts the annotations that limit it, by key, for people
 * @param regions one of which the cluster has to be in; empty: anywhere
 * @param selector of the cluster's labels; empty: any
 */
public record PlacementLimits(
    Map<String, String> texts,
    Optional<List<String>> regions,
    Optional<ClusterLabelSelector> selector) {

  /** Annotation: the regions that the job may go to, separated by commas. */
  public static final String REGION = "sluice.dev/placement-region";

  /** Annotation: a selector of the labels of the clusters that the job may go to. */
  public static final String SELECTOR = "sluice.dev/placement-cluster-selector";

  /** The label of a cluster that tells its region. */
  public static final String REGION_LABEL = "topology.kubernetes.io/region";

  /** A label that every cluster has for selectors: its own name. */
  public static final String NAME_LABEL = "kubernetes.io/metadata.name";

  /** All annotations that limit where a job may go. */
  public static final List<String> KEYS = List.of(REGION, SELECTOR);

  /** How much of a text is shown to people; what limits a job usually is shorter. */
  private static final int MOST_SHOWN = 256;

  /** With copies of the collections. */
  public PlacementLimits {
    texts = Map.copyOf(texts);
    regions = regions.map(List::copyOf);
  }

  /**
   * Something that is wrong with an annotation.
   *
   * @param key of the annotation
   * @param value what it says
   * @param rule what is allowed
   */
  public record Fault(String key, String value, String rule) {}

  /** What the annotations say. */
  public static PlacementLimits of(Map<String, String> annotations) {
    Map<String, String> texts = new HashMap<>();
    for (String key : KEYS) {
      if (annotations.containsKey(key)) {
        texts.put(key, annotations.get(key));
      }
    }
    return new PlacementLimits(
        texts,
        Optional.ofNullable(texts.get(REGION)).map(PlacementLimits::regions),
        Optional.ofNullable(texts.get(SELECTOR))
            .map(
                text ->
                    ClusterLabelSelector.parse(text).orElse(new ClusterLabelSelector(List.of()))));
  }

  private static List<String> regions(String text) {
    List<String> names = TextLimits.items(text).stream().map(String::strip).toList();
    return names.stream().allMatch(name -> !name.isEmpty() && KubernetesNames.isLabelValue(name))
        ? names
        : List.of();
  }

  /** What is wrong with the annotations; nothing where they can be read or aren't there. */
  public static List<Fault> faults(Map<String, String> annotations) {
    List<Fault> faults = new ArrayList<>();
    String region = annotations.get(REGION);
    if (region != null && regions(region).isEmpty()) {
      faults.add(
          fault(
              REGION,
              region,
              "must be names of regions separated by commas, each a label value such as eu-west-1:"
                  + " 1 to 63 letters, digits, '-', '_' or '.', with a letter or digit at both"
                  + " ends"));
    }
    String selector = annotations.get(SELECTOR);
    if (selector != null && ClusterLabelSelector.parse(selector).isEmpty()) {
      faults.add(fault(SELECTOR, selector, "must be " + ClusterLabelSelector.FORM));
    }
    return faults;
  }

  private static Fault fault(String key, String text, String rule) {
    return new Fault(key, text, TextLimits.fault(text).orElse(rule));
  }

  /**
   * Why a cluster is not allowed; empty if it is.
   *
   * @param labels of its object
   */
  public Optional<String> forbids(String cluster, Map<String, String> labels) {
    if (regions.filter(allowed -> !isIn(allowed, labels)).isPresent()) {
      return Optional.of(
          "not allowed by %s \"%s\", its region is %s"
              .formatted(
                  REGION,
                  shown(REGION),
                  labels.containsKey(REGION_LABEL)
                      ? "\"" + labels.get(REGION_LABEL) + "\""
                      : "not known (label " + REGION_LABEL + ")"));
    }
    Map<String, String> all = new HashMap<>(labels);
    all.put(NAME_LABEL, cluster);
    boolean selected =
        selector.filter(it -> it.requirements().isEmpty() || !it.selects(all)).isEmpty();
    return selected
        ? Optional.empty()
        : Optional.of("not allowed by %s \"%s\"".formatted(SELECTOR, shown(SELECTOR)));
  }

  private String shown(String key) {
    return TextLimits.shown(texts.getOrDefault(key, ""), MOST_SHOWN);
  }

  private static boolean isIn(List<String> allowed, Map<String, String> labels) {
    return labels.containsKey(REGION_LABEL) && allowed.contains(labels.get(REGION_LABEL));
  }

  /**
   * A label selector as people write it on one line: {@code tier=gpu, site in (a, b), !old}. All
   * requirements have to hold.
   *
   * @param requirements of which there is at least one
   */
  public record ClusterLabelSelector(List<LabelRequirement> requirements) {

    /** What is allowed, to be said where something else is found. */
    public static final String FORM =
        "requirements separated by commas, each key=value, key!=value, key in (a, b), key notin (a,"
            + " b), key or !key";

    /** With a copy of the list. */
    public ClusterLabelSelector {
      requirements = List.copyOf(requirements);
    }

    /**
     * The selector that a text stands for; empty when it is none, or longer than {@link TextLimits}
     * allow. Each character is looked at a fixed number of times.
     */
    public static Optional<ClusterLabelSelector> parse(String text) {
      if (!TextLimits.fits(text)) {
        return Optional.empty();
      }
      List<LabelRequirement> found = new ArrayList<>();
      for (String part : parts(text)) {
        Optional<LabelRequirement> requirement = requirement(part.strip());
        if (requirement.isEmpty()) {
          return Optional.empty();
        }
        found.add(requirement.get());
      }
      return Optional.of(new ClusterLabelSelector(found));
    }

    /** What stands between the commas that are outside of parentheses. */
    private static List<String> parts(String text) {
      List<String> parts = new ArrayList<>();
      boolean inside = false;
      int start = 0;
      for (int i = 0; i < text.length(); i++) {
        char each = text.charAt(i);
        if (each == '(' || each == ')') {
          inside = each == '(';
        } else if (each == ',' && !inside) {
          parts.add(text.substring(start, i));
          start = i + 1;
        }
      }
      parts.add(text.substring(start));
      return parts;
    }

    private static Optional<LabelRequirement> requirement(String text) {
      if (text.startsWith("!")) {
        return requirement(text.substring(1).strip(), Operator.DOES_NOT_EXIST, List.of());
      }
      int equals = text.indexOf('=');
      if (equals > 0) {
        boolean not = text.charAt(equals - 1) == '!';
        boolean twice = !not && text.startsWith("==", equals);
        String value = text.substring(equals + (twice ? 2 : 1)).strip();
        return KubernetesNames.isLabelValue(value)
            ? requirement(
                text.substring(0, not ? equals - 1 : equals).strip(),
                not ? Operator.NOT_IN : Operator.IN,
                List.of(value))
            : Optional.empty();
      }
      return text.endsWith(")")
          ? set(text.substring(0, text.length() - 1))
          : requirement(text, Operator.EXISTS, List.of());
    }

    /** A requirement such as {@code key in (a, b)}, without the last parenthesis. */
    private static Optional<LabelRequirement> set(String text) {
      int opening = text.indexOf('(');
      String before = text.substring(0, Math.max(0, opening)).strip();
      boolean not = before.endsWith("notin");
      String key = before.substring(0, Math.max(0, before.length() - (not ? 5 : 2)));
      if (!before.endsWith("in") || key.equals(key.stripTrailing())) {
        return Optional.empty();
      }
      List<String> values = new ArrayList<>();
      for (String value : TextLimits.items(text.substring(opening + 1))) {
        if (value.isBlank() || !KubernetesNames.isLabelValue(value.strip())) {
          return Optional.empty();
        }
        values.add(value.strip());
      }
      return requirement(key.strip(), not ? Operator.NOT_IN : Operator.IN, values);
    }

    private static Optional<LabelRequirement> requirement(
        String key, Operator operator, List<String> values) {
      return KubernetesNames.isLabelKey(key)
          ? Optional.of(new LabelRequirement(key, operator, values))
          : Optional.empty();
    }

    /** Whether labels fulfil all of it. */
    public boolean selects(Map<String, String> labels) {
      return requirements.stream().allMatch(requirement -> requirement.matches(labels));
    }
  }
}
