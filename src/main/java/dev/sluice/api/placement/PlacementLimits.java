package dev.sluice.api.placement;

import dev.sluice.api.KubernetesNames;
import dev.sluice.api.TextLimits;
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
}
