package dev.sluice.visibility;

import dev.sluice.api.Quantities;
import dev.sluice.core.topology.TopologyView;
import dev.sluice.core.topology.TopologyView.Amounts;
import dev.sluice.core.topology.TopologyView.Leaf;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Renders the domains of a flavor as a tree of text: what each has, what is free, who holds it, and
 * how scattered the free capacity is (docs/topology.md#what-is-free-and-who-holds-it).
 */
public final class TopologyTreeText {

  /** Workloads that are named in one line; of the others only the number is told. */
  private static final int MOST_HOLDERS = 10;

  private final TopologyView view;
  private final List<String> lines = new ArrayList<>();

  /** The largest free amount of one domain, by resource and level. */
  private final SortedMap<String, long[]> largest = new TreeMap<>();

  private TopologyTreeText(TopologyView view) {
    this.view = view;
  }

  /** The lines: the flavor, a line for each domain, and a line for each resource. */
  public static List<String> lines(TopologyView view) {
    TopologyTreeText text = new TopologyTreeText(view);
    int nodes = view.leaves().stream().mapToInt(Leaf::nodes).sum();
    text.lines.add(
        "flavor %s: %d %s in topology %s (%s)"
            .formatted(
                view.flavor(),
                nodes,
                nodes == 1 ? "node" : "nodes",
                view.topology(),
                String.join(" > ", view.levels())));
    text.add(view.leaves(), 0);
    text.scattered();
    return text.lines;
  }

  private void add(List<Leaf> leaves, int level) {
    Map<String, List<Leaf>> domains = new LinkedHashMap<>();
    for (Leaf leaf : leaves) {
      domains.computeIfAbsent(leaf.values().get(level), value -> new ArrayList<>()).add(leaf);
    }
    domains.forEach(
        (value, below) -> {
          SortedMap<String, Amounts> sums = TopologyView.sum(below);
          sums.forEach(
              (resource, amounts) -> {
                long[] most =
                    largest.computeIfAbsent(resource, key -> new long[view.levels().size()]);
                most[level] = Math.max(most[level], amounts.free());
              });
          boolean last = level == view.levels().size() - 1;
          lines.add(
              "  ".repeat(level + 1)
                  + value
                  + ": "
                  + sums.entrySet().stream()
                      .map(each -> amounts(each.getKey(), each.getValue(), last))
                      .collect(Collectors.joining(", "))
                  + (last ? holders(below.getFirst()) : ""));
          if (!last) {
            add(below, level + 1);
          }
        });
  }

  private static String amounts(String resource, Amounts amounts, boolean ofLeaf) {
    List<String> texts =
        Quantities.inOneUnit(
            resource, amounts.free(), amounts.allocatable(), amounts.usedByOthers());
    String text = "%s %s of %s free".formatted(resource, texts.get(0), texts.get(1));
    return ofLeaf && amounts.usedByOthers() > 0
        ? text + " (%s used by other pods)".formatted(texts.get(2))
        : text;
  }

  private static String holders(Leaf leaf) {
    if (leaf.holders().isEmpty()) {
      return "";
    }
    String named =
        leaf.holders().stream()
            .limit(MOST_HOLDERS)
            .map(
                holder ->
                    "%s/%s (%d %s)"
                        .formatted(
                            holder.id().namespace(),
                            holder.id().name(),
                            holder.pods(),
                            holder.pods() == 1 ? "pod" : "pods"))
            .collect(Collectors.joining(", "));
    int others = leaf.holders().size() - MOST_HOLDERS;
    return "; held by " + named + (others > 0 ? " and %d others".formatted(others) : "");
  }

  /** How much of what is free is in one domain, at most. */
  private void scattered() {
    SortedMap<String, Amounts> all = TopologyView.sum(view.leaves());
    largest.forEach(
        (resource, most) -> {
          long free = all.containsKey(resource) ? all.get(resource).free() : 0;
          List<String> texts =
              Quantities.inOneUnit(
                  resource, LongStream.concat(LongStream.of(free), LongStream.of(most)).toArray());
          List<String> parts = new ArrayList<>();
          for (int level = 0; level < most.length && free > 0; level++) {
            parts.add(
                "%s in one %s (%d %%)"
                    .formatted(
                        texts.get(level + 1),
                        view.levels().get(level),
                        Math.round(100.0 * most[level] / free)));
          }
          lines.add(
              "%s: %s free in all".formatted(resource, texts.getFirst())
                  + (parts.isEmpty() ? "" : ", at most " + String.join(", ", parts)));
        });
  }
}
