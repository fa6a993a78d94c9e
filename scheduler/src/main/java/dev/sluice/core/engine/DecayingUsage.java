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
 * Usage of one LocalQueue over time (docs/scheduling-semantics.md#admission-fair-sharing): an
 * average in which past usage decays, and the entry penalties of Workloads that have quota reserved
 * and are not admitted yet. Amounts are in the unit of their resource: cores for cpu.
 */
final class DecayingUsage {

  /**
   * Smaller values are dropped. The limit is far below what a status can show, so that many small
   * amounts still add up.
   */
  private static final double NEGLIGIBLE = 1e-9;

  private final AdmissionFairSharing parameters;
  private final SortedMap<String, Double> consumed = new TreeMap<>();
  private final Map<String, Map<String, Long>> penalties = new HashMap<>();

  /**
   * Sums of the penalties by resource; exact, because each penalty is subtracted with the amount
   * that was added.
   */
  private final SortedMap<String, Long> penaltySums = new TreeMap<>();

  private Instant sampledAt;

  /** A usage that was {@code consumed} at that time. */
  DecayingUsage(AdmissionFairSharing parameters, Map<String, Double> consumed, Instant sampledAt) {
    this.parameters = parameters;
    this.consumed.putAll(consumed);
    this.consumed.values().removeIf(value -> value < NEGLIGIBLE);
    this.sampledAt = sampledAt;
  }

  /** The usage as a value. */
  EngineState.UsageExport export() {
    return new EngineState.UsageExport(consumed, penalties, sampledAt);
  }

  /** The usage that a value stands for. */
  static DecayingUsage restored(AdmissionFairSharing parameters, EngineState.UsageExport exported) {
    DecayingUsage usage = new DecayingUsage(parameters, Map.of(), exported.sampledAt());
    usage.consumed.putAll(exported.consumed());
    exported.penalties().forEach(usage::addPenalty);
    return usage;
  }

  /** The time of the last sample, or of the start. */
  Instant sampledAt() {
    return sampledAt;
  }

  /** The time of the next sample. */
  Instant nextSample() {
    return sampledAt.plus(parameters.samplingInterval());
  }

  /** Average usage by resource; no value is 0. */
  SortedMap<String, Double> consumed() {
    return Collections.unmodifiableSortedMap(consumed);
  }

  /** Takes a sample: averages the past usage with the current usage. */
  void sample(Instant now, Map<String, Long> currentUsage) {
    double sampleFraction = parameters.sampleFraction(Duration.between(sampledAt, now));
    sampledAt = now;
    if (!parameters.countsPastUsage()) {
      consumed.clear();
      return;
    }
    consumed.replaceAll((resource, past) -> past * (1 - sampleFraction));
    currentUsage.forEach(
        (resource, amount) ->
            consumed.merge(resource, sampleFraction * toUnits(resource, amount), Double::sum));
    consumed.values().removeIf(value -> value < NEGLIGIBLE);
  }

  /**
   * Adds an entry penalty for a Workload that got quota: a fraction of its request counts until the
   * Workload is admitted or loses its quota.
   */
  void addPenalty(String uid, Map<String, Long> requests) {
    removePenalty(uid);
    if (parameters.countsPastUsage()) {
      penalties.put(uid, requests);
      requests.forEach(
          (resource, amount) -> penaltySums.merge(resource, amount, ResourceAmounts::add));
    }
  }

  /**
   * Converts the penalty of a Workload that is admitted to past usage. Returns false if the
   * Workload had no penalty.
   */
  boolean convertPenalty(String uid) {
    Map<String, Long> requests = penalties.getOrDefault(uid, Map.of());
    double fraction = penaltyFraction();
    requests.forEach(
        (resource, amount) ->
            consumed.merge(resource, fraction * toUnits(resource, amount), Double::sum));
    return removePenalty(uid);
  }

  /**
   * Removes the penalty of a Workload that is not admitted. Returns false if the Workload had no
   * penalty.
   */
  boolean removePenalty(String uid) {
    Map<String, Long> requests = penalties.remove(uid);
    if (requests == null) {
      return false;
    }
    requests.forEach(
        (resource, amount) ->
            penaltySums.computeIfPresent(
                resource, (name, sum) -> sum.equals(amount) ? null : Long.valueOf(sum - amount)));
    return true;
  }

  /**
   * The usage as one number: the sum over resources weighted by resource, penalties included,
   * divided by the LocalQueue's weight.
   */
  double amount(double weight) {
    if (weight <= 0) {
      return Double.POSITIVE_INFINITY;
    }
    double sum = 0;
    for (Map.Entry<String, Double> usage : consumed.entrySet()) {
      sum += parameters.weight(usage.getKey()) * usage.getValue();
    }
    double fraction = penaltyFraction();
    for (Map.Entry<String, Long> request : penaltySums.entrySet()) {
      String resource = request.getKey();
      sum += parameters.weight(resource) * fraction * toUnits(resource, request.getValue());
    }
    return sum / weight;
  }

  private double penaltyFraction() {
    return parameters.sampleFraction(parameters.samplingInterval());
  }

  private static double toUnits(String resource, long amount) {
    return resource.equals("cpu") ? amount / 1000.0 : amount;
  }
}
