package dev.sluice.forecast.runtimes;

import java.util.regex.Pattern;

/**
 * Runs that are expected to last about equally long (docs/run-times.md#groups).
 *
 * @param level what its runs have in common
 * @param key tells it from the other groups of the level; that of a group of one namespace begins
 *     with its name and a slash
 */
public record RunTimeGroup(Level level, String key) {

  /** What runs of a group have in common, from the narrowest to the widest. */
  public enum Level {
    /** The pod templates and the LocalQueue. */
    TEMPLATE,
    /** The name without its generated suffix, and the namespace. */
    NAME,
    /** The user and the request. */
    USER,
    /** The request and the LocalQueue. */
    LOCAL_QUEUE,
    /** The ClusterQueue. */
    CLUSTER_QUEUE;

    /** The word for documents: {@code LocalQueue}. */
    public String text() {
      return switch (this) {
        case TEMPLATE -> "Template";
        case NAME -> "Name";
        case USER -> "User";
        case LOCAL_QUEUE -> "LocalQueue";
        case CLUSTER_QUEUE -> "ClusterQueue";
      };
    }
  }

  /** The namespace that all of its runs are of; empty if they needn't be of one. */
  String namespace() {
    return key.substring(0, Math.max(0, key.indexOf('/')));
  }

  /** What Kubernetes appends to generateName: five characters of an alphabet without vowels. */
  private static final Pattern GENERATED = Pattern.compile("-[bcdfghjklmnpqrstvwxz2456789]{5}$");

  private static final Pattern NUMBER = Pattern.compile("[-_.]?[0-9]{1,20}$");

  /**
   * A name without what generators append to it: the suffix of generateName, or a number or time at
   * the end. A name that consists of nothing else stays as it is. Takes time linear in the length.
   */
  public static String stem(String name) {
    String tail = name.length() <= 32 ? name : name.substring(name.length() - 32);
    String head = name.substring(0, name.length() - tail.length());
    String cut = GENERATED.matcher(tail).replaceFirst("");
    cut = NUMBER.matcher(cut).replaceFirst("");
    String stem = head + cut;
    return stem.isEmpty() ? name : stem;
  }
}
