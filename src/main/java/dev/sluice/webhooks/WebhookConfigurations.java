package dev.sluice.webhooks;

import dev.sluice.api.Keys;
import dev.sluice.api.config.Selector;
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
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Registers the webhooks with the API server. The same code makes what {@code --install} applies
 * and what the manifests ship.
 */
public final class WebhookConfigurations {

  /** Name of the configuration for what is filled in. */
  public static final String MUTATING = "kueue-mutating-webhook-configuration";

  /** Name of the configuration for what is checked. */
  public static final String VALIDATING = "kueue-validating-webhook-configuration";

  private static final int TIMEOUT_SECONDS = 10;

  /** Nobody waits long for what only makes a job nicer. */
  private static final int SHORT_TIMEOUT_SECONDS = 5;

  private static final String FAIL = "Fail";
  private static final String IGNORE = "Ignore";
  private static final Map<String, String> LABELS =
      Collections.unmodifiableMap(
          new TreeMap<>(
              Map.of(
                  "app.kubernetes.io/name", "sluice", "app.kubernetes.io/component", "webhook")));

  private static final String NAMES_A_QUEUE =
      "(has(object.metadata.labels) && '%1$s' in object.metadata.labels)".formatted(Keys.QUEUE_NAME)
          + " || (has(object.metadata.annotations) && '%1$s' in object.metadata.annotations)"
              .formatted(Keys.QUEUE_NAME);

  private static final String SPEAKS_TO_US =
      "[object, oldObject].exists(o, o != null && ("
          + "(has(o.metadata.labels) && o.metadata.labels.exists(k, k.startsWith('%1$s/')))"
          + " || (has(o.metadata.annotations)"
          + " && o.metadata.annotations.exists(k, k.startsWith('%1$s/')))"
          + " || (has(o.spec) && has(o.spec.template) && has(o.spec.template.metadata)"
          + " && has(o.spec.template.metadata.annotations)"
          + " && o.spec.template.metadata.annotations.exists(k, k.startsWith('%1$s/')))))";

  private final WebhookRegistration registration;

  /** For one way of being reached. */
  public WebhookConfigurations(WebhookRegistration registration) {
    this.registration = registration;
  }

  /** What is filled in. */
  public MutatingWebhookConfiguration mutating() {
    List<MutatingWebhook> webhooks = new ArrayList<>();
    for (ReviewedKind kind : kinds()) {
      if (kind.mutating().isEmpty()) {
        continue;
      }
      if (kind.isOwn() || registration.manageJobsWithoutQueueName()) {
        webhooks.add(
            mutating(
                kind,
                "m" + kind.lowerKind() + ".kb.io",
                FAIL,
                conditions(kind, WorkloadConditions.mutating())));
      } else {
        webhooks.add(
            mutating(
                kind,
                "m" + kind.lowerKind() + ".kb.io",
                FAIL,
                List.of(condition("names-a-queue", NAMES_A_QUEUE))));
        webhooks.add(
            mutating(
                kind,
                "m" + kind.lowerKind() + "-without-queue.kb.io",
                IGNORE,
                List.of(condition("names-no-queue", "!(" + NAMES_A_QUEUE + ")"))));
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

  /** What is checked. */
  public ValidatingWebhookConfiguration validating() {
    List<ValidatingWebhook> webhooks = new ArrayList<>();
    for (ReviewedKind kind : kinds()) {
      List<MatchCondition> conditions =
          kind.isOwn() || registration.manageJobsWithoutQueueName()
              ? conditions(kind, WorkloadConditions.validating())
              : List.of(condition("speaks-to-us", SPEAKS_TO_US.formatted(Keys.GROUP)));
      webhooks.add(
          new ValidatingWebhookBuilder()
              .withName("v" + kind.lowerKind() + ".kb.io")
              .withAdmissionReviewVersions("v1")
              .withSideEffects("None")
              .withFailurePolicy(FAIL)
              .withMatchPolicy("Equivalent")
              .withTimeoutSeconds(TIMEOUT_SECONDS)
              .withClientConfig(clientConfig(kind.validatingPath()))
              .withNamespaceSelector(namespaces(kind))
              .withMatchConditions(conditions)
              .withRules(rule(kind, List.of("CREATE", "UPDATE"), kind.validating()))
              .build());
    }
    return new ValidatingWebhookConfigurationBuilder()
        .withNewMetadata()
        .withName(VALIDATING)
        .withLabels(LABELS)
        .endMetadata()
        .withWebhooks(webhooks)
        .build();
  }

  private List<ReviewedKind> kinds() {
    return ReviewedKind.all().stream()
        .filter(kind -> kind.isOwn() || registration.frameworks().contains(kind.framework()))
        .toList();
  }

  private MutatingWebhook mutating(
      ReviewedKind kind, String name, String failurePolicy, List<MatchCondition> conditions) {
    return new MutatingWebhookBuilder()
        .withName(name)
        .withAdmissionReviewVersions("v1")
        .withSideEffects("None")
        .withFailurePolicy(failurePolicy)
        .withMatchPolicy("Equivalent")
        .withReinvocationPolicy(registration.reinvocationPolicy())
        .withTimeoutSeconds(failurePolicy.equals(FAIL) ? TIMEOUT_SECONDS : SHORT_TIMEOUT_SECONDS)
        .withClientConfig(clientConfig(kind.mutatingPath()))
        .withNamespaceSelector(namespaces(kind))
        .withMatchConditions(conditions)
        .withRules(rule(kind, kind.mutating(), List.of(kind.plural())))
        .build();
  }

  /** What is asked about of a kind of its own: of Workloads, as little as may be. */
  private List<MatchCondition> conditions(ReviewedKind kind, List<MatchCondition> ofWorkloads) {
    if (!kind.kind().equals("Workload")) {
      return List.of();
    }
    List<MatchCondition> conditions = new ArrayList<>();
    registration.trustedUser().map(WebhookConfigurations::notBy).ifPresent(conditions::add);
    conditions.addAll(ofWorkloads);
    return conditions;
  }

  /** The operator keeps to its own rules; asking itself would double the cost of each write. */
  private static MatchCondition notBy(String user) {
    return condition(
        "not-the-operator", "request.userInfo.username != '" + user.replace("'", "\\'") + "'");
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

  private @Nullable LabelSelector namespaces(ReviewedKind kind) {
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
      ReviewedKind kind, List<String> operations, List<String> resources) {
    return new RuleWithOperationsBuilder()
        .withApiGroups(kind.group())
        .withApiVersions(kind.version())
        .withOperations(operations)
        .withResources(resources)
        .withScope("*")
        .build();
  }
}
