package dev.sluice.dashboard;

import dev.sluice.workload.record.CachedWorkload;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Which Workloads are asked for. Anything may be in a query: what is not understood counts as
 * absent.
 *
 * @param words all must occur in the name, the namespace, the queue or the owner
 * @param state name of the state; empty: any
 * @param namespace empty: all
 * @param queue name of the LocalQueue; empty: all
 * @param clusterQueue empty: all
 * @param sort what comes first; empty: what is unfinished, and the newest of it
 * @param offset how many are left out at the beginning
 * @param limit the most that are shown
 */
record WorkloadFilter(
    List<String> words,
    String state,
    String namespace,
    String queue,
    String clusterQueue,
    String sort,
    int offset,
    int limit) {

  /** The most Workloads of one answer. */
  static final int MAX_LIMIT = 500;

  private static final int USUAL_LIMIT = 100;
  private static final int LONGEST_SEARCH = 200;

  /** Reads a raw query. */
  static WorkloadFilter parse(String query) {
    Map<String, String> values = values(query);
    String search = values.getOrDefault("q", "").strip().toLowerCase(Locale.ROOT);
    return new WorkloadFilter(
        search.isEmpty()
            ? List.of()
            : List.of(search.substring(0, Math.min(search.length(), LONGEST_SEARCH)).split("\\s+")),
        values.getOrDefault("state", ""),
        values.getOrDefault("namespace", ""),
        values.getOrDefault("queue", ""),
        values.getOrDefault("clusterQueue", ""),
        values.getOrDefault("sort", ""),
        number(values, "offset", 0, Integer.MAX_VALUE),
        Math.max(1, number(values, "limit", USUAL_LIMIT, MAX_LIMIT)));
  }

  /** The first value of each name of a raw query. */
  static Map<String, String> values(String query) {
    Map<String, String> values = new HashMap<>();
    for (String part : query.split("&")) {
      int equals = part.indexOf('=');
      if (equals > 0) {
        values.putIfAbsent(decoded(part.substring(0, equals)), decoded(part.substring(equals + 1)));
      }
    }
    return values;
  }

  /** A whole number from 0 to {@code most}; anything else counts as {@code usual}. */
  static int number(Map<String, String> values, String name, int usual, int most) {
    String text = values.getOrDefault(name, "");
    return text.matches("[0-9]{1,18}") ? (int) Math.min(most, Long.parseLong(text)) : usual;
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException notEncoded) {
      return text;
    }
  }

  /** Whether a Workload is asked for, whose LocalQueue leads to {@code itsClusterQueue}. */
  boolean matches(CachedWorkload workload, String itsClusterQueue) {
    return (namespace.isEmpty() || namespace.equals(workload.id().namespace()))
        && (queue.isEmpty() || queue.equals(workload.spec().queueName()))
        && (clusterQueue.isEmpty() || clusterQueue.equals(itsClusterQueue))
        && (state.isEmpty() || state.equals(WorkloadState.of(workload).text()))
        && (words.isEmpty() || contains(workload, itsClusterQueue));
  }

  private boolean contains(CachedWorkload workload, String itsClusterQueue) {
    String text =
        String.join(
                " ",
                workload.id().namespace() + "/" + workload.id().name(),
                workload.spec().queueName(),
                itsClusterQueue,
                workload.owner().map(owner -> owner.kind() + "/" + owner.name()).orElse(""))
            .toLowerCase(Locale.ROOT);
    return words.stream().allMatch(text::contains);
  }
}
