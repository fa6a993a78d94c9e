package dev.sluice.kube.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Map;
import java.util.OptionalInt;

/**
 * How many objects of a kind each controller of the kind reconciles at a time, as the configuration
 * sets it. A kind that isn't named has the limit of its controller.
 *
 * @param limits at least 1 each, by {@code Kind.group}; by the kind alone in the core group
 */
public record GroupKindConcurrency(Map<String, Integer> limits) {

  /** No kind is named. */
  public static final GroupKindConcurrency NONE = new GroupKindConcurrency(Map.of());

  /** Keeps a copy of the map. */
  public GroupKindConcurrency {
    limits = Map.copyOf(limits);
  }

  /** The name of a kind in the configuration, such as {@code Job.batch} or {@code Pod}. */
  public static String name(String group, String kind) {
    return group.isEmpty() ? kind : kind + "." + group;
  }

  /** The limit of a kind; empty if the configuration doesn't name it. */
  public OptionalInt limit(String group, String kind) {
    Integer limit = limits.get(name(group, kind));
    return limit == null ? OptionalInt.empty() : OptionalInt.of(limit);
  }

  /** The same for the kind of a class. */
  public OptionalInt limit(Class<? extends HasMetadata> kind) {
    return limit(HasMetadata.getGroup(kind), HasMetadata.getKind(kind));
  }
}
