package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.config.GoDuration;
import dev.sluice.api.config.KubeQueue;
import dev.sluice.api.config.KubeQueue.Policy;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.kubequeue.QueueOverrides.QueueOverride;
import dev.sluice.kubequeue.QuotaArithmetic.Limits;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Writes the specs and annotations of the objects that are made from quotas. */
final class QueueManifests {

  /** The annotations that are kept as planned; all others are left alone. */
  static final List<String> ANNOTATIONS =
      Stream.concat(
              SourceMark.KEYS.stream(),
              Stream.of(
                  QueueAnnotations.OVERSELL_RATE,
                  QueueAnnotations.PREEMPTIBLE_LABELS,
                  QueueAnnotations.COHORT_GUARANTEE,
                  QueueAnnotations.STRATEGY,
                  QueueAnnotations.ATTEMPT_BACKOFF,
                  QueueAnnotations.START_TIMEOUT,
                  QueueAnnotations.START_BACKOFF,
                  QueueAnnotations.MAX_WORKLOADS,
                  QueueAnnotations.QUEUE_PRIORITY,
                  QueueAnnotations.BLOCK_UNTIL_READY,
                  QueueAnnotations.CHECK_SELECTORS,
                  SourceMark.LISTED,
                  QueueObjects.FULL_NAME,
                  QueueUnits.SHOWN))
          .toList();

  private static final int RATE_PLACES = 6;

  private final KubeQueue settings;
  private final String flavor;

  /** Manifests of quota of this flavor. */
  QueueManifests(KubeQueue settings, String flavor) {
    this.settings = settings;
    this.flavor = flavor;
  }

  /**
   * The annotations of a quota that others share.
   *
   * @param max what all together may use at most
   */
  SortedMap<String, String> cohortAnnotations(
      QuotaTree tree, SourceMark mark, Map<String, Long> max) {
    SortedMap<String, String> result = new TreeMap<>(mark.annotations());
    Long jobs = max.get(QuotaDeclaration.MAX_JOBS);
    if (jobs != null) {
      maxWorkloads(jobs, tree.oversold())
          .ifPresent(most -> result.put(QueueAnnotations.MAX_WORKLOADS, most));
    }
    if (tree.oversold() && rate().compareTo(BigDecimal.ONE) > 0) {
      result.put(QueueAnnotations.OVERSELL_RATE, rate().stripTrailingZeros().toPlainString());
    }
    return result;
  }

  /**
   * The annotations of a queue. That of a quota that others share has no quota of its own: the
   * limits, and what is guaranteed, are those of its Cohort.
   */
  SortedMap<String, String> queueAnnotations(
      QuotaTree tree, QuotaDeclaration quota, SourceMark mark, QueueOverride override) {
    SortedMap<String, String> result =
        cohortAnnotations(tree, mark, quota.inner() ? Map.of() : quota.max());
    if (quota.inner()) {
      result.put(QueueAnnotations.COHORT_GUARANTEE, "true");
    }
    result.put(QueueAnnotations.PREEMPTIBLE_LABELS, "true");
    Policy policy = override.policy().orElse(settings.policy());
    if (policy != Policy.BLOCK) {
      result.put(QueueAnnotations.STRATEGY, policy.strategy());
      result.put(
          QueueAnnotations.ATTEMPT_BACKOFF,
          GoDuration.format(settings.starts().attempts().base())
              + ","
              + GoDuration.format(settings.starts().attempts().max()));
    }
    if (!settings.starts().timeout().isZero()) {
      result.put(QueueAnnotations.START_TIMEOUT, GoDuration.format(settings.starts().timeout()));
      result.put(QueueAnnotations.START_BACKOFF, GoDuration.format(settings.starts().backoff()));
    }
    override
        .priority()
        .ifPresent(priority -> result.put(QueueAnnotations.QUEUE_PRIORITY, priority.toString()));
    if (override.blockUntilReady()) {
      result.put(QueueAnnotations.BLOCK_UNTIL_READY, "true");
    }
    if (!override.checks().isEmpty()) {
      ObjectNode selectors = JsonNodeFactory.instance.objectNode();
      selectors.setAll(override.checks());
      result.put(QueueAnnotations.CHECK_SELECTORS, selectors.toString());
    }
    if (!override.listed().isEmpty()) {
      result.put(SourceMark.LISTED, String.join(",", override.listed()));
    }
    return result;
  }

  /**
   * The limit of the number of Workloads. Limits of jobs are over-sold like all others, while the
   * annotation is multiplied by no rate: so it says the product. A number beyond the annotation's
   * range is no limit.
   */
  private Optional<String> maxWorkloads(long jobs, boolean oversold) {
    BigDecimal rate = oversold ? rate() : BigDecimal.ONE;
    BigDecimal most =
        rate.max(BigDecimal.ONE).multiply(BigDecimal.valueOf(jobs)).setScale(0, RoundingMode.DOWN);
    return most.compareTo(BigDecimal.valueOf(Integer.MAX_VALUE)) > 0
        ? Optional.empty()
        : Optional.of(most.toPlainString());
  }

  /** The over-sell rate, with as many decimal places as the annotation takes. */
  private BigDecimal rate() {
    return BigDecimal.valueOf(settings.oversellRate()).setScale(RATE_PLACES, RoundingMode.DOWN);
  }

  /** The spec of a Cohort; {@code parent} is empty for a root. */
  ObjectNode cohort(String parent, SortedMap<String, Limits> limits) {
    ObjectNode spec = JsonNodeFactory.instance.objectNode();
    if (!parent.isEmpty()) {
      spec.put("parentName", parent);
    }
    groups(spec, limits, parent.isEmpty());
    return spec;
  }

  /**
   * The spec of a ClusterQueue.
   *
   * @param cohort empty if it shares nothing
   * @param namespaces whose jobs it takes, if not those of all namespaces
   */
  ObjectNode clusterQueue(
      String cohort,
      SortedMap<String, Limits> limits,
      List<String> namespaces,
      QueueOverride override) {
    ObjectNode spec = JsonNodeFactory.instance.objectNode();
    if (!cohort.isEmpty()) {
      spec.put("cohortName", cohort);
    }
    if (settings.jobs().quotaLabel() == KubeQueue.QuotaLabel.ANYWHERE) {
      spec.putObject("namespaceSelector");
    } else if (!namespaces.isEmpty()) {
      ObjectNode expression =
          spec.putObject("namespaceSelector").putArray("matchExpressions").addObject();
      expression.put("key", "kubernetes.io/metadata.name").put("operator", "In");
      namespaces.forEach(expression.putArray("values")::add);
    }
    boolean blocks = override.policy().orElse(settings.policy()) == Policy.BLOCK;
    spec.put("queueingStrategy", blocks ? "StrictFIFO" : "BestEffortFIFO");
    ObjectNode preemption = spec.putObject("preemption");
    preemption.put("reclaimWithinCohort", "Any");
    preemption.putObject("borrowWithinCohort").put("policy", "Never");
    preemption.put("withinClusterQueue", override.preempts() ? "LowerPriority" : "Never");
    if (!override.checks().isEmpty()) {
      ArrayNode checks = spec.putObject("admissionChecksStrategy").putArray("admissionChecks");
      override.checks().keySet().forEach(name -> checks.addObject().put("name", name));
    }
    groups(spec, limits, cohort.isEmpty());
    return spec;
  }

  private void groups(ObjectNode spec, SortedMap<String, Limits> limits, boolean alone) {
    ArrayNode groups = spec.putArray("resourceGroups");
    if (limits.isEmpty()) {
      return;
    }
    ObjectNode group = groups.addObject();
    limits.keySet().forEach(group.putArray("coveredResources")::add);
    ObjectNode quotas = group.putArray("flavors").addObject();
    quotas.put("name", flavor);
    ArrayNode resources = quotas.putArray("resources");
    limits.forEach(
        (resource, each) -> {
          ObjectNode quota = resources.addObject().put("name", resource);
          quota.put("nominalQuota", Quantities.format(resource, each.nominal()));
          if (!alone) {
            each.borrowing()
                .ifPresent(most -> quota.put("borrowingLimit", Quantities.format(resource, most)));
            each.lending()
                .ifPresent(most -> quota.put("lendingLimit", Quantities.format(resource, most)));
          }
        });
  }
}
