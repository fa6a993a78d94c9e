package dev.sluice.core.engine;

import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.ResourceAmounts;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What one LocalQueue used over time (docs/scheduling-semantics.md#admission-fair-sharing): the
 * average in which past use counts less and less, and the entry penalties of those that were given
 * quota and are not admitted yet. Amounts are in the unit of their resource: cores for cpu.
 */
final class DecayingUsage {

  /** Less is nothing: far below what a status can show, so that much of little adds up. */
  private static final double LEAST = 1e-9;

  private final AdmissionFairSharing rules;
  private final SortedMap<String, Double> consumed = new TreeMap<>();
  private final Map<String, Map<String, Long>> entering = new HashMap<>();

  /** Sums of those that are entering; exact, since what is added is taken off again. */
  private final SortedMap<String, Long> requested = new TreeMap<>();

  private Instant sampledAt;

  /** One that was {@code consumed} at that time. */
  DecayingUsage(AdmissionFairSharing rules, Map<String, Double> consumed, Instant sampledAt) {
    this.rules = rules;
    this.consumed.putAll(consumed);
    this.sampledAt = sampledAt;
  }

  /** When use was sampled last, or began to be. */
  Instant sampledAt() {
    return sampledAt;
  }

  /** When it is to be sampled next. */
  Instant nextSample() {
    return sampledAt.plus(rules.samplingInterval());
  }

  /** Use over time by resource; none of them is 0. */
  SortedMap<String, Double> consumed() {
    return Collections.unmodifiableSortedMap(consumed);
  }

  /** Past use is averaged with what is used now. */
  void sample(Instant now, Map<String, Long> used) {
    double renewed = rules.renewed(Duration.between(sampledAt, now));
    sampledAt = now;
    if (!rules.remembers()) {
      consumed.clear();
      return;
    }
    consumed.replaceAll((resource, past) -> past * (1 - renewed));
    used.forEach(
        (resource, amount) ->
            consumed.merge(resource, renewed * units(resource, amount), Double::sum));
    consumed.values().removeIf(value -> value < LEAST);
  }

  /** A Workload was given quota: what it requests counts in part, until it is sampled. */
  void enter(String uid, Map<String, Long> requests) {
    leave(uid);
    if (rules.remembers()) {
      entering.put(uid, requests);
      requests.forEach(
          (resource, amount) -> requested.merge(resource, amount, ResourceAmounts::add));
    }
  }

  /** The Workload is admitted: its penalty becomes past use. False if it had none. */
  boolean admit(String uid) {
    Map<String, Long> requests = entering.getOrDefault(uid, Map.of());
    double part = entryPart();
    requests.forEach(
        (resource, amount) ->
            consumed.merge(resource, part * units(resource, amount), Double::sum));
    return leave(uid);
  }

  /** The Workload isn't admitted after all. False if it had no penalty. */
  boolean leave(String uid) {
    Map<String, Long> requests = entering.remove(uid);
    if (requests == null) {
      return false;
    }
    requests.forEach(
        (resource, amount) ->
            requested.computeIfPresent(
                resource, (name, sum) -> sum.equals(amount) ? null : Long.valueOf(sum - amount)));
    return true;
  }

  /** All that counts, in one number: weighted by resource, divided by the queue's weight. */
  double amount(double weight) {
    if (weight <= 0) {
      return Double.POSITIVE_INFINITY;
    }
    double sum = 0;
    for (Map.Entry<String, Double> use : consumed.entrySet()) {
      sum += rules.weight(use.getKey()) * use.getValue();
    }
    double part = entryPart();
    for (Map.Entry<String, Long> request : requested.entrySet()) {
      String resource = request.getKey();
      sum += rules.weight(resource) * part * units(resource, request.getValue());
    }
    return sum / weight;
  }

  private double entryPart() {
    return rules.renewed(rules.samplingInterval());
  }

  private static double units(String resource, long amount) {
    return resource.equals("cpu") ? amount / 1000.0 : amount;
  }
}
