package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.TextLimits;
import dev.sluice.api.json.JsonFields;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Warns of labels and annotations of group sluice.dev that don't exist, such as mistyped ones: they
 * have no effect, which nothing else tells. Other reviews are left as they are.
 */
public final class UnknownSluiceKeys implements AdmissionFunction {

  private static final String PREFIX = "sluice.dev/";

  /** More than a person mistypes. */
  private static final int MOST_WARNINGS = 5;

  /** Longer names are nobody's slip, and are compared with none. */
  private static final int LONGEST_NAME = 63;

  private static final int MAX_SHOWN = 100;

  /** The names after the prefix, those that the operator writes among them. */
  static final Set<String> NAMES =
      Arrays.stream(
              """
              active-deadline admission-check admission-check-selectors aged-by allowed-groups allowed-users
              assigned-queue attempt-backoff available-quota backfill backfill-unknown-run-time
              bench-run block-until-ready capacity-ceiling capacity-floor capacity-hysteresis
              capacity-of-workers capacity-reserve capacity-subtract checkpoint-grace checkpoint-requested-at checkpointed-at
              cohort-guarantee default-run-time exit-code expected-run-time fence-after
              first-replica flavor-of-nodes flavor-of-variant flavor-order flavors-without-nodes
              holder inactive-by-unit interruption-rate local-queue made-for
              max-concurrent-workloads max-delay-for-cheaper max-preemptions max-price
              max-run-time may-run-here min-run-time min-run-time-exempt mirror
              multikueue-dispatcher-best-fit node-capacity node-capacity-image
              node-capacity-means node-capacity-retries node-capacity-timeout on-demand
              origin-workload-uid
              oversell-rate placeholder placement-cluster-selector placement-region played
              pod-group pod-set pods-before-start preemptible-labels preemption-delay price priority-aging queue queue-priority
              queueing-strategy quota-reserved-at quota-schedule rack relative-speed
              remote-status request-digest run-for shown source-kind source-name
              source-namespace source-path source-removed source-scopes source-uid start-backoff
              start-timeout started this-cluster unknown user what-if worker-cluster
              worker-clusters workload
              """
                  .trim()
                  .split("\\s+", -1))
          .collect(Collectors.toUnmodifiableSet());

  private final AdmissionFunction function;

  /**
   * @param function reviews the request; what it allows is allowed, with further warnings
   */
  public UnknownSluiceKeys(AdmissionFunction function) {
    this.function = function;
  }

  @Override
  public AdmissionResult review(AdmissionRequest request) {
    AdmissionResult result = function.review(request);
    if (!(result instanceof AdmissionResult.Allowed allowed) || request.isFinalizing()) {
      return result;
    }
    List<String> found = warnings(request.object(), request.oldObject());
    if (found.isEmpty()) {
      return result;
    }
    List<String> warnings = new ArrayList<>(allowed.warnings());
    warnings.addAll(found);
    return new AdmissionResult.Allowed(allowed.patch(), List.copyOf(warnings));
  }

  /** A warning for each unknown key of the object that it didn't have before. */
  static List<String> warnings(JsonNode object, JsonNode before) {
    List<String> warnings = new ArrayList<>();
    add("label", JsonFields.labels(object), JsonFields.labels(before), warnings);
    add("annotation", JsonFields.annotations(object), JsonFields.annotations(before), warnings);
    return List.copyOf(warnings);
  }

  private static void add(
      String what, Map<String, String> now, Map<String, String> before, List<String> warnings) {
    for (String key : new TreeSet<>(now.keySet())) {
      if (key.startsWith(PREFIX)
          && !NAMES.contains(key.substring(PREFIX.length()))
          && !before.containsKey(key)
          && warnings.size() < MOST_WARNINGS) {
        warnings.add(
            "%s %s has no effect: there is none of this name%s"
                .formatted(
                    what,
                    TextLimits.shown(key, MAX_SHOWN),
                    similar(key.substring(PREFIX.length()))
                        .map(name -> "; did you mean " + PREFIX + name + "?")
                        .orElse("")));
      }
    }
  }

  /** The known name that a third of the letters at most have to be changed for. */
  private static Optional<String> similar(String name) {
    return name.length() > LONGEST_NAME
        ? Optional.empty()
        : NAMES.stream()
            .filter(known -> changes(name, known) <= known.length() / 3)
            .min(
                Comparator.comparingInt((String known) -> changes(name, known))
                    .thenComparing(Comparator.naturalOrder()));
  }

  /** How many letters are to be put in, left out or replaced (Levenshtein 1966). */
  private static int changes(String from, String to) {
    int[] above = new int[to.length() + 1];
    Arrays.setAll(above, i -> i);
    for (int i = 1; i <= from.length(); i++) {
      int[] row = new int[to.length() + 1];
      row[0] = i;
      for (int j = 1; j <= to.length(); j++) {
        int replaced = above[j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replaced, 1 + Math.min(above[j], row[j - 1]));
      }
      above = row;
    }
    return above[to.length()];
  }
}
