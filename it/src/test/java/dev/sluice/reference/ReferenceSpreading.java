package dev.sluice.reference;

import dev.sluice.core.model.TopologyRequest.Spreading;
import dev.sluice.reference.ReferenceNodes.Use;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * How groups are spread over domains, by the text of docs/topology.md#groups-spread-over-domains:
 * the groups are counted anew for each question, domain after domain.
 */
final class ReferenceSpreading {

  /** Pods of a group in one domain: whose they are, and the labels that its nodes share. */
  record Part(Spreading.Member member, Map<String, String> labels) {}

  private final List<String> levels;
  private final Spreading spreading;
  private final List<Part> parts;

  /**
   * @param levels those of the topology
   * @param uses all that is used of nodes
   */
  ReferenceSpreading(List<String> levels, Spreading spreading, Collection<Use> uses) {
    this.levels = levels;
    this.spreading = spreading;
    this.parts =
        uses.stream()
            .flatMap(use -> use.spread().stream())
            .filter(part -> counts(part.member()))
            .toList();
  }

  private boolean counts(Spreading.Member other) {
    boolean own =
        other.owner().equals(spreading.member().owner())
            && other.group().equals(spreading.member().group());
    return !own
        && other.namespace().equals(spreading.member().namespace())
        && spreading.selector().isPresent()
        && spreading
            .selector()
            .get()
            .values()
            .contains(other.labels().getOrDefault(spreading.selector().get().key(), "?"));
  }

  /** Who has pods in a domain of a level; everywhere if no domain is named. */
  private Set<List<String>> groups(String level, Optional<List<String>> domain) {
    Set<List<String>> groups = new HashSet<>();
    for (Part part : parts) {
      List<String> there = path(level, part.labels());
      if (!there.isEmpty() && domain.map(there::equals).orElse(true)) {
        groups.add(List.of(part.member().owner(), part.member().group()));
      }
    }
    return groups;
  }

  /** The values of the levels down to one; empty if one isn't known. */
  private List<String> path(String level, Map<String, String> labels) {
    List<String> path = new ArrayList<>();
    for (String each : levels.subList(0, levels.indexOf(level) + 1)) {
      if (!labels.containsKey(each)) {
        return List.of();
      }
      path.add(labels.getOrDefault(each, ""));
    }
    return path;
  }

  /**
   * Looks for places, first only where all rules hold. What a rule prefers is given up bit by bit,
   * that of the last rule first: domains with one group are let in, then those with two, and so on.
   *
   * @param search finds places on the nodes with some labels
   */
  <T> Optional<T> place(Function<Predicate<Map<String, String>>, Optional<T>> search) {
    return place(0, labels -> true, search);
  }

  private <T> Optional<T> place(
      int first,
      Predicate<Map<String, String>> before,
      Function<Predicate<Map<String, String>>, Optional<T>> search) {
    if (first == spreading.rules().size()) {
      return search.apply(before);
    }
    Spreading.ShareRule rule = spreading.rules().get(first);
    int all = groups(rule.level(), Optional.empty()).size();
    for (int most = 0; most <= (rule.required() ? 0 : all); most++) {
      int letIn = most;
      Optional<T> found =
          place(
              first + 1,
              before.and(
                  labels -> {
                    int there =
                        groups(rule.level(), Optional.of(path(rule.level(), labels))).size();
                    return 100 * there <= rule.maxShare() * all || there <= letIn;
                  }),
              search);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  /** What the rules depend on: by rule, who has pods where. */
  List<Map<String, Integer>> found() {
    List<Map<String, Integer>> found = new ArrayList<>();
    for (Spreading.ShareRule rule : spreading.rules()) {
      Map<String, Integer> byDomain = new TreeMap<>();
      for (Part part : parts) {
        List<String> there = path(rule.level(), part.labels());
        byDomain.put(
            String.join("/", there),
            there.isEmpty() ? 0 : groups(rule.level(), Optional.of(there)).size());
      }
      byDomain.put("all", groups(rule.level(), Optional.empty()).size());
      byDomain.remove("");
      found.add(byDomain);
    }
    return found;
  }
}
