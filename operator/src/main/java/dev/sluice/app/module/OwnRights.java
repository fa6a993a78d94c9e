package dev.sluice.app.module;

import dev.sluice.api.ApiVersions;
import dev.sluice.install.InstallManifests;
import dev.sluice.kube.client.ApiErrorText;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceRule;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectRulesReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectRulesReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectRulesReviewStatus;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rights that no operator can do without: those of the shipped role on the kinds of the own
 * API. Rights on other kinds depend on the configuration, and are told by who misses them.
 */
final class OwnRights {

  private static final Logger LOG = LoggerFactory.getLogger(OwnRights.class);
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final Duration PAUSE = Duration.ofMillis(250);

  private OwnRights() {}

  /**
   * Checks the rights. A role that was bound a moment ago counts a moment later: so they are asked
   * for again, for a few seconds. Where the API server can't tell them, nothing is refused.
   *
   * @throws StartRequirements.MissingException that names what is missing
   * @throws InterruptedIOException when the thread is interrupted meanwhile
   */
  static void check(KubernetesClient client, String namespace)
      throws StartRequirements.MissingException, InterruptedIOException {
    long begin = System.nanoTime();
    SortedMap<String, TreeSet<String>> missing = missing(client, namespace);
    while (!missing.isEmpty()) {
      if (System.nanoTime() - begin > PATIENCE.toNanos()) {
        throw new StartRequirements.MissingException(
            "this operator has no right to "
                + missing.entrySet().stream()
                    .map(each -> String.join(", ", each.getValue()) + " " + each.getKey())
                    .collect(Collectors.joining("; "))
                + " of "
                + ApiVersions.GROUP
                + ": bind its user to ClusterRole kueue-manager-role, which the chart,"
                + " deploy/sluice.yaml and --install bring");
      }
      try {
        Thread.sleep(PAUSE);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted while rights were asked for");
      }
      missing = missing(client, namespace);
    }
  }

  private static SortedMap<String, TreeSet<String>> missing(
      KubernetesClient client, String namespace) {
    SubjectRulesReviewStatus status = null;
    try {
      SelfSubjectRulesReview review =
          client
              .authorization()
              .v1()
              .selfSubjectRulesReview()
              .create(
                  new SelfSubjectRulesReviewBuilder()
                      .withNewSpec()
                      .withNamespace(namespace)
                      .endSpec()
                      .build());
      status = review == null ? null : review.getStatus();
    } catch (KubernetesClientException e) {
      LOG.debug("rights=unknown reason=\"{}\"", ApiErrorText.of(e));
    }
    return status == null || Boolean.TRUE.equals(status.getIncomplete())
        ? new TreeMap<>()
        : missing(needed(namespace), status.getResourceRules());
  }

  private static List<PolicyRule> needed(String namespace) {
    return InstallManifests.permissions(namespace).stream()
        .filter(object -> object instanceof ClusterRole)
        .filter(object -> object.getMetadata().getName().equals("kueue-manager-role"))
        .flatMap(object -> ((ClusterRole) object).getRules().stream())
        .filter(rule -> rule.getApiGroups().contains(ApiVersions.GROUP))
        .toList();
  }

  /** Verbs that are needed and not allowed, by resource. */
  static SortedMap<String, TreeSet<String>> missing(
      List<PolicyRule> needed, List<ResourceRule> allowed) {
    SortedMap<String, TreeSet<String>> missing = new TreeMap<>();
    for (PolicyRule rule : needed) {
      for (String resource : rule.getResources()) {
        for (String verb : rule.getVerbs()) {
          if (allowed.stream().noneMatch(each -> allows(each, resource, verb))) {
            missing.computeIfAbsent(resource, any -> new TreeSet<>()).add(verb);
          }
        }
      }
    }
    return missing;
  }

  private static boolean allows(ResourceRule rule, String resource, String verb) {
    int slash = resource.indexOf('/');
    return has(rule.getVerbs(), verb)
        && has(rule.getApiGroups(), ApiVersions.GROUP)
        && (has(rule.getResources(), resource)
            || (slash > 0 && rule.getResources().contains("*" + resource.substring(slash))))
        && rule.getResourceNames().isEmpty();
  }

  private static boolean has(List<String> values, String value) {
    return values.contains(value) || values.contains("*");
  }
}
