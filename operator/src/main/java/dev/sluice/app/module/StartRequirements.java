package dev.sluice.app.module;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.install.InstallManifests;
import dev.sluice.install.Installer;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.client.ConcurrentRequests;
import dev.sluice.webhooks.registration.RegistrationCheck;
import dev.sluice.webhooks.registration.WebhookConfigurations;
import dev.sluice.webhooks.registration.WebhookRegistration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceRule;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectRulesReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectRulesReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectRulesReviewStatus;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the operator needs in a cluster before it starts: definitions, its namespace, and webhook
 * registrations for everything that it manages.
 */
public final class StartRequirements {

  private static final Logger LOG = LoggerFactory.getLogger(StartRequirements.class);
  private static final int FORBIDDEN = 403;
  private static final String HOW = "; install the chart or deploy/sluice.yaml, or use --install";

  private StartRequirements() {}

  /** Something that the operator needs is missing; the message says what, and how to get it. */
  public static final class MissingException extends IOException {
    private static final long serialVersionUID = 1L;

    MissingException(String message) {
      super(message);
    }
  }

  /**
   * What is read of the webhook registrations, from the moment that it is made.
   *
   * @param mutating waits for the registration of mutating webhooks
   * @param validating waits for that of validating ones
   */
  record Registrations(
      Supplier<Optional<MutatingWebhookConfiguration>> mutating,
      Supplier<Optional<ValidatingWebhookConfiguration>> validating) {

    /**
     * Whether the API server finds webhooks by a Service; registrations may name an address
     * instead. Those that may not be read count as usual ones, which name the Service.
     *
     * @throws KubernetesClientException if the API server can't be asked
     */
    boolean nameService() {
      try {
        return Stream.concat(
                mutating.get().stream()
                    .flatMap(it -> it.getWebhooks().stream())
                    .map(it -> it.getClientConfig()),
                validating.get().stream()
                    .flatMap(it -> it.getWebhooks().stream())
                    .map(it -> it.getClientConfig()))
            .anyMatch(it -> it != null && it.getService() != null);
      } catch (KubernetesClientException e) {
        if (e.getCode() == FORBIDDEN) {
          return true;
        }
        throw e;
      }
    }

    /** Begins to read both. */
    static Registrations read(KubernetesClient client) {
      var registrations = client.admissionRegistration().v1();
      return new Registrations(
          ConcurrentRequests.begin(
              () ->
                  Optional.ofNullable(
                      registrations
                          .mutatingWebhookConfigurations()
                          .withName(WebhookConfigurations.MUTATING)
                          .get())),
          ConcurrentRequests.begin(
              () ->
                  Optional.ofNullable(
                      registrations
                          .validatingWebhookConfigurations()
                          .withName(WebhookConfigurations.VALIDATING)
                          .get())));
    }
  }

  /**
   * Checks that the API server serves all kinds, that the namespace exists, and that this process
   * may work with the kinds.
   *
   * @throws MissingException if not
   * @throws KubernetesClientException if the API server can't be asked
   */
  public static void check(KubernetesClient client, String namespace) throws IOException {
    Supplier<Boolean> namespaceExists =
        ConcurrentRequests.begin(() -> namespaceExists(client, namespace));
    String served = client.raw("/apis/" + ApiVersions.GROUP + "/" + ApiVersions.V1BETA2);
    if (served == null) {
      throw new MissingException(
          "the definitions of " + ApiVersions.GROUP + " are not installed" + HOW);
    }
    Set<String> missing = new TreeSet<>(Installer.PLURALS);
    for (JsonNode resource : JsonMappers.JSON.readTree(served).path("resources")) {
      missing.remove(resource.path("name").asText());
    }
    if (!missing.isEmpty()) {
      throw new MissingException(
          "the definitions of %s are not installed in %s: %s%s"
              .formatted(ApiVersions.GROUP, ApiVersions.V1BETA2, String.join(", ", missing), HOW));
    }
    if (!namespaceExists.get()) {
      throw new MissingException("the namespace " + namespace + " does not exist" + HOW);
    }
    OwnRights.check(client, namespace);
  }

  /**
   * Checks that the API server asks about everything that this configuration manages. Who may not
   * read the registrations is not refused.
   *
   * @throws MissingException with everything that the registrations lack
   * @throws KubernetesClientException if the API server can't be asked
   */
  static void checkRegistrations(Registrations registrations, Configuration configuration)
      throws MissingException {
    RegistrationCheck.Result result;
    try {
      result =
          RegistrationCheck.compare(
              registrations.mutating().get(),
              registrations.validating().get(),
              WebhookRegistration.of(configuration, WebhookRegistration.service(configuration)));
    } catch (KubernetesClientException e) {
      if (e.getCode() == FORBIDDEN) {
        LOG.warn("registrations checked=false reason=\"{}\"", ApiErrorText.of(e));
        return;
      }
      throw e;
    }
    if (!result.missing().isEmpty()) {
      throw new MissingException(
          "the webhook registrations lack what the configuration needs. Upgrade the chart with this"
              + " configuration, or start once with --install"
              + table(result.missing()));
    }
    if (!result.failingOpen().isEmpty()) {
      LOG.warn(
          "registrations failurePolicy=Ignore for=\"{}\" reason=\"what is created while no operator"
              + " answers is not held\"",
          String.join("; ", result.failingOpen()));
    }
  }

  /** A line for each registration, which two words name, and below it one for each fault. */
  private static String table(List<String> missing) {
    StringBuilder table = new StringBuilder();
    String before = "";
    for (String fault : missing) {
      int end = fault.indexOf(' ', fault.indexOf(' ') + 1);
      String registration = fault.substring(0, end);
      if (!registration.equals(before)) {
        table.append("\n  ").append(registration);
        before = registration;
      }
      table.append("\n    ").append(fault, end + 1, fault.length());
    }
    return table.toString();
  }

  /** A namespace that may not be read counts as existing. */
  private static boolean namespaceExists(KubernetesClient client, String namespace) {
    try {
      return client.namespaces().withName(namespace).get() != null;
    } catch (KubernetesClientException e) {
      if (e.getCode() == FORBIDDEN) {
        return true;
      }
      throw e;
    }
  }

  /**
   * The rights that no operator can do without: those of the shipped role on the kinds of the own
   * API. Rights on other kinds depend on the configuration, and are told by who misses them.
   */
  static final class OwnRights {

    private static final Logger LOG = LoggerFactory.getLogger(OwnRights.class);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration PAUSE = Duration.ofMillis(250);

    private OwnRights() {}

    /**
     * Checks the rights. A role that was bound a moment ago counts a moment later: so they are
     * asked for again, for a few seconds. Where the API server can't tell them, nothing is refused.
     *
     * @throws StartRequirements.MissingException that names what is missing
     * @throws InterruptedIOException when the thread is interrupted meanwhile
     */
    static void check(KubernetesClient client, String namespace)
        throws MissingException, InterruptedIOException {
      long begin = System.nanoTime();
      SortedMap<String, TreeSet<String>> missing = missing(client, namespace);
      while (!missing.isEmpty()) {
        if (System.nanoTime() - begin > PATIENCE.toNanos()) {
          throw new MissingException(
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
}
