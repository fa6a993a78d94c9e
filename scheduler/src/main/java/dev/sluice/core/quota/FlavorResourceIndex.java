package dev.sluice.core.quota;

import dev.sluice.core.model.FlavorResource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Numbers the pairs of flavor and resource, so that amounts can be stored in dense arrays. Numbers
 * are assigned in order of first use and never reused. Confined to one thread.
 */
public final class FlavorResourceIndex {

  private final Map<FlavorResource, Integer> numbers = new HashMap<>();
  private final List<FlavorResource> pairs = new ArrayList<>();
  private final Map<String, Integer> resources = new HashMap<>();
  private final List<Integer> resourceOf = new ArrayList<>();

  /** The number of a pair; a new number at first use. */
  public int number(String flavor, String resource) {
    FlavorResource pair = new FlavorResource(flavor, resource);
    Integer known = numbers.get(pair);
    if (known != null) {
      return known;
    }
    int number = pairs.size();
    numbers.put(pair, number);
    pairs.add(pair);
    resourceOf.add(resources.computeIfAbsent(resource, first -> resources.size()));
    return number;
  }

  /** All pairs, in the order of their numbers. */
  public List<FlavorResource> export() {
    return List.copyOf(pairs);
  }

  /** Gives pairs the numbers that they had; to be called before any other pair has a number. */
  public void restore(List<FlavorResource> exported) {
    exported.forEach(pair -> number(pair.flavor(), pair.resource()));
  }

  /** The pair that has this number. */
  public FlavorResource pair(int number) {
    return pairs.get(number);
  }

  /** The number of the resource of a pair. */
  int resource(int number) {
    return resourceOf.get(number);
  }

  /** The number of numbered resources: all their numbers are below it. */
  int resources() {
    return resources.size();
  }

  /** The number of numbered pairs: all their numbers are below it. */
  public int count() {
    return pairs.size();
  }
}
