package dev.sluice.webhooks.registration;

import dev.sluice.api.config.Selector;
import dev.sluice.webhooks.kinds.PodResizeProtection;
import dev.sluice.webhooks.kinds.PodsOfJobsWebhook;
import dev.sluice.webhooks.kinds.WebhookKind;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.LabelSelectorRequirement;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MatchCondition;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperations;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperationsBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfigBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Builds the webhook configurations, for {@code --install} and for the shipped manifests. */
public final class WebhookConfigurations {

  /** Name of the mutating webhook configuration. */
  public static final String MUTATING = "kueue-mutating-webhook-configuration";

  /** Name of the validating webhook configuration. */
  public static final String VALIDATING = "kueue-validating-webhook-configuration";

  private static final int TIMEOUT_SECONDS = 10;

  /** Name of the condition that leaves out the operator's own writes. */
  static final String NOT_THE_OPERATOR = "not-the-operator";

  /** Timeout of webhooks that only set defaults and whose failure is ignored. */
  private static final int SHORT_TIMEOUT_SECONDS = 5;

  private static final String FAIL = "Fail";
  private static final String IGNORE = "Ignore";
  private static final Map<String, String> LABELS =
      Map.of("app.kubernetes.io/component", "webhook");

  private final WebhookRegistration registration;
  private final List<WebhookKind> all;

  /** Creates configurations for one registration, of all kinds. */
  public WebhookConfigurations(WebhookRegistration registration) {
    this(registration, WebhookKind.all());
  }

  /** Creates configurations for one registration, of those kinds that it covers. */
  public WebhookConfigurations(WebhookRegistration registration, List<WebhookKind> all) {
    this.registration = registration;
    this.all = all;
  }

  /** The mutating webhook configuration. */
  public MutatingWebhookConfiguration mutating() {
    List<MutatingWebhook> webhooks = new ArrayList<>();
    for (WebhookKind kind : kinds()) {
      if (kind.mutating().isEmpty()) {
        continue;
      }
      String name = "m" + kind.lowerKind();
      if (kind.isOwn() || isAskedAboutAlways(kind)) {
        List<MatchCondition> conditions = conditions(kind, WorkloadMatchConditions.mutating());
        webhooks.add(mutating(kind, name + ".kb.io", FAIL, conditions));
        continue;
      }
      String asks = JobMatchConditions.requestsQueueing(kind);
      webhooks.add(
          mutating(
              kind,
              name + ".kb.io",
              policy(kind),
              List.of(condition(JobMatchConditions.REQUESTS_QUEUEING, asks))));
      if (registration.isOn(kind)) {
        webhooks.add(
            mutating(
                kind,
                name + "-without-queue.kb.io",
                IGNORE,
                List.of(condition("names-no-queue", "!(" + asks + ")"))));
      }
    }
    return new MutatingWebhookConfigurationBuilder()
        .withNewMetadata()
        .withName(MUTATING)
        .withLabels(LABELS)
        .endMetadata()
        .withWebhooks(webhooks)
        .build();
  }

  /** The validating webhook configuration. */
  public ValidatingWebhookConfiguration validating() {
    List<ValidatingWebhook> webhooks = new ArrayList<>();
    for (WebhookKind kind : kinds()) {
      webhooks.add(
          new ValidatingWebhookBuilder()
              .withName("v" + kind.lowerKind() + ".kb.io")
              .withAdmissionReviewVersions("v1")
              .withSideEffects("None")
              .withFailurePolicy(policy(kind))
              .withMatchPolicy("Equivalent")
              .withTimeoutSeconds(timeout(policy(kind)))
              .withClientConfig(clientConfig(kind.validatingPath()))
              .withNamespaceSelector(namespaces(kind))
              .withMatchConditions(
                  kind.isOwn()
                      ? conditions(kind, WorkloadMatchConditions.validating())
                      : ofJobs(kind))
              .withRules(rule(kind, List.of("CREATE", "UPDATE"), kind.validating()))
              .build());
    }
    if (registration.further().contains(WebhookRegistration.Further.PODS_OF_JOBS)) {
      webhooks.add(podsOfJobs());
    }
    return new ValidatingWebhookConfigurationBuilder()
        .withNewMetadata()
        .withName(VALIDATING)
        .withLabels(LABELS)
        .endMetadata()
        .withWebhooks(webhooks)
        .build();
  }

  /** The webhook that compares pods with what their jobs were admitted with. */
  private ValidatingWebhook podsOfJobs() {
    List<MatchCondition> conditions = new ArrayList<>();
    registration
        .trustedUser()
        .map(WebhookConfigurations::createdOrNotBy)
        .ifPresent(conditions::add);
    conditions.add(condition("may-add-to-a-job", PodsOfJobsWebhook.MAY_ADD));
    return new ValidatingWebhookBuilder()
        .withName("vpods-of-jobs.kb.io")
        .withAdmissionReviewVersions("v1")
        .withSideEffects("NoneOnDryRun")
        .withFailurePolicy(FAIL)
        .withMatchPolicy("Equivalent")
        .withTimeoutSeconds(TIMEOUT_SECONDS)
        .withClientConfig(clientConfig(PodsOfJobsWebhook.PATH))
        .withNamespaceSelector(selector(registration.namespaces()))
        .withMatchConditions(conditions)
        .withRules(
            new RuleWithOperationsBuilder()
                .withApiGroups("")
                .withApiVersions("v1")
                .withOperations("CREATE", "UPDATE")
                .withResources("pods", "pods/" + PodResizeProtection.RESIZE)
                .withScope("*")
                .build())
        .build();
  }

  private List<WebhookKind> kinds() {
    return all.stream().filter(registration::covers).toList();
  }

  private boolean isAskedAboutAlways(WebhookKind kind) {
    return registration.isOn(kind) && registration.manageJobsWithoutQueueName();
  }

  /** The failure policy: Ignore for kinds whose integration is disabled. */
  private String policy(WebhookKind kind) {
    return kind.isOwn() || registration.isOn(kind) ? FAIL : IGNORE;
  }

  private MutatingWebhook mutating(
      WebhookKind kind, String name, String failurePolicy, List<MatchCondition> conditions) {
    return new MutatingWebhookBuilder()
        .withName(name)
        .withAdmissionReviewVersions("v1")
        .withSideEffects("None")
        .withFailurePolicy(failurePolicy)
        .withMatchPolicy("Equivalent")
        .withReinvocationPolicy(registration.reinvocationPolicy())
        .withTimeoutSeconds(timeout(failurePolicy))
        .withClientConfig(clientConfig(kind.mutatingPath()))
        .withNamespaceSelector(namespaces(kind))
        .withMatchConditions(conditions)
        .withRules(rule(kind, kind.mutating(), List.of(kind.plural())))
        .build();
  }

  private static int timeout(String failurePolicy) {
    return failurePolicy.equals(FAIL) ? TIMEOUT_SECONDS : SHORT_TIMEOUT_SECONDS;
  }

  /** The match conditions of a kind; Workloads have the most restrictive ones. */
  private List<MatchCondition> conditions(WebhookKind kind, List<MatchCondition> ofWorkloads) {
    if (!kind.kind().equals("Workload")) {
      return List.of();
    }
    List<MatchCondition> conditions = new ArrayList<>();
    registration.trustedUser().map(WebhookConfigurations::notBy).ifPresent(conditions::add);
    conditions.addAll(ofWorkloads);
    return conditions;
  }

  /** The match conditions of the validating webhook of a kind of job. */
  private List<MatchCondition> ofJobs(WebhookKind kind) {
    List<MatchCondition> conditions = new ArrayList<>();
    registration
        .trustedUser()
        .map(WebhookConfigurations::createdOrNotBy)
        .ifPresent(conditions::add);
    if (!isAskedAboutAlways(kind)) {
      conditions.add(condition("speaks-to-us", JobMatchConditions.usesOurKeys(kind)));
    }
    return conditions;
  }

  /**
   * Excludes requests of this user: the operator's writes are valid by construction, and reviewing
   * them would double the cost of each write.
   */
  private static MatchCondition notBy(String user) {
    return condition(NOT_THE_OPERATOR, isNot(user));
  }

  /**
   * The same for updates. The operator of this cluster creates no jobs in it; who creates one under
   * this name is the manager of another cluster, whose copies are held as everybody's are.
   */
  private static MatchCondition createdOrNotBy(String user) {
    return condition(NOT_THE_OPERATOR, "request.operation == 'CREATE' || " + isNot(user));
  }

  private static String isNot(String user) {
    return "request.userInfo.username != '" + user.replace("'", "\\'") + "'";
  }

  private static MatchCondition condition(String name, String expression) {
    return new MatchCondition(expression, name);
  }

  private WebhookClientConfig clientConfig(String path) {
    WebhookClientConfigBuilder config = new WebhookClientConfigBuilder();
    if (!registration.caBundle().isEmpty()) {
      config.withCaBundle(registration.caBundle());
    }
    return switch (registration.target()) {
      case WebhookRegistration.Url url -> config.withUrl(url.base() + path).build();
      case WebhookRegistration.Service service ->
          config
              .withNewService()
              .withName(service.name())
              .withNamespace(service.namespace())
              .withPort(service.port())
              .withPath(path)
              .endService()
              .build();
    };
  }

  private @Nullable LabelSelector namespaces(WebhookKind kind) {
    return kind.isOwn() ? null : selector(registration.namespaces());
  }

  private static LabelSelector selector(Selector selector) {
    return new LabelSelectorBuilder()
        .withMatchLabels(selector.matchLabels().isEmpty() ? null : selector.matchLabels())
        .withMatchExpressions(
            selector.matchExpressions().stream()
                .map(
                    it -> new LabelSelectorRequirement(it.key(), it.operator().text(), it.values()))
                .toList())
        .build();
  }

  private static RuleWithOperations rule(
      WebhookKind kind, List<String> operations, List<String> resources) {
    return new RuleWithOperationsBuilder()
        .withApiGroups(kind.group())
        .withApiVersions(kind.version())
        .withOperations(operations)
        .withResources(resources)
        .withScope("*")
        .build();
  }
}
