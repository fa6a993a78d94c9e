package dev.sluice.lab.bench;

import java.util.Map;
import java.util.TreeMap;

/**
 * Attributes writes to their authors. The API server's metrics do not report who sent a request;
 * where it writes no audit log, authors are found by exclusion: the benchmark's own writes are
 * subtracted exactly; of the rest, the operator's are writes to the API that it serves, writes to
 * Jobs themselves (cluster controllers write only their status), and Events. Where pods run, Events
 * of the core group belong to the controllers, and one Event of the newer group per bound pod
 * belongs to the scheduler.
 *
 * @param operator writes of the operator
 * @param others writes of the cluster's own programs: leases, nodes, pods
 * @param writers the others by name, where the server says who they are; empty if it doesn't
 */
record Attribution(
    Map<RequestKey, Long> operator,
    Map<RequestKey, Long> others,
    Map<String, Map<RequestKey, Long>> writers) {

  private static final String SERVED = "kueue.x-k8s.io";
  private static final String EVENTS = "events.k8s.io";
  private static final String LEASES = "coordination.k8s.io";

  /** Divides all writes, given the benchmark's {@code own}. */
  static Attribution of(Map<RequestKey, Long> all, Map<RequestKey, Long> own) {
    Map<RequestKey, Long> operator = new TreeMap<>();
    Map<RequestKey, Long> others = new TreeMap<>();
    long bindings =
        all.entrySet().stream()
            .filter(each -> each.getKey().resource().equals("pods"))
            .filter(each -> each.getKey().subresource().equals("binding"))
            .mapToLong(Map.Entry::getValue)
            .sum();
    boolean podsRun = bindings > 0;
    all.forEach(
        (key, count) -> {
          long rest = count - own.getOrDefault(key, 0L);
          if (key.group().equals(EVENTS) && key.verb().equals("POST")) {
            long scheduler = Math.min(bindings, rest);
            put(others, key, scheduler);
            put(operator, key, rest - scheduler);
          } else {
            put(mayBeOperator(key, podsRun) ? operator : others, key, rest);
          }
        });
    return new Attribution(operator, others, Map.of());
  }

  /**
   * Divides writes whose authors are known. The lease of the operator is no work, and counts as
   * others' writes.
   *
   * @param byUser all writes, by name of the user
   * @param operator the operator's name
   * @param runner the benchmark's name
   */
  static Attribution of(Map<String, Map<RequestKey, Long>> byUser, String operator, String runner) {
    Map<RequestKey, Long> work = new TreeMap<>();
    Map<RequestKey, Long> rest = new TreeMap<>();
    Map<String, Map<RequestKey, Long>> writers = new TreeMap<>();
    byUser.forEach(
        (user, writes) ->
            writes.forEach(
                (key, count) -> {
                  if (user.equals(operator) && !key.group().equals(LEASES)) {
                    put(work, key, count);
                  } else if (!user.equals(runner) && count > 0) {
                    rest.merge(key, count, Long::sum);
                    put(writers.computeIfAbsent(user, any -> new TreeMap<>()), key, count);
                  }
                }));
    return new Attribution(work, rest, writers);
  }

  private static void put(Map<RequestKey, Long> writes, RequestKey key, long count) {
    if (count > 0) {
      writes.put(key, count);
    }
  }

  private static boolean mayBeOperator(RequestKey key, boolean podsRun) {
    return key.group().equals(SERVED)
        || key.group().equals(EVENTS)
        || (key.resource().equals("events") && !podsRun)
        || (key.group().equals("batch")
            && key.resource().equals("jobs")
            && key.subresource().isEmpty());
  }

  /** The total of the operator's writes. */
  long operatorTotal() {
    return operator.values().stream().mapToLong(Long::longValue).sum();
  }
}
