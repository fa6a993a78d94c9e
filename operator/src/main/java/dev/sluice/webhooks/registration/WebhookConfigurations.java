package dev.sluice.webhooks.registration;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.Selector;
import dev.sluice.webhooks.kinds.PodResizeProtection;
import dev.sluice.webhooks.kinds.WebhookKind;
import dev.sluice.webhooks.kinds.Webhooks.PodGroupMembershipWebhook;
import dev.sluice.webhooks.kinds.Webhooks.PodsOfJobsWebhook;
import dev.sluice.webhooks.rules.JobWarnings.MisnamedQueueLabels;
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
import java.util.stream.Collectors;
import java.util.stream.Stream;
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

  /**
   * Name of the condition that leaves out the end of what was deleted: nothing that is judged
   * changes then, and garbage collection goes on while no operator answers.
   */
  static final String MORE_THAN_ITS_END = "more-than-its-end";

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
    this(registration, registration.kinds().all());
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
      if (kind.isOwn() || isAskedAboutAlways(kind)) {
        List<MatchCondition> conditions =
            unlessItEnds(kind, conditions(kind, WorkloadMatchConditions.mutating()));
        webhooks.add(mutating(kind, name("m", kind, ""), FAIL, conditions));
        continue;
      }
      String asks = JobMatchConditions.requestsQueueing(kind);
      webhooks.add(
          mutating(
              kind,
              name("m", kind, ""),
              policy(kind),
              unlessItEnds(kind, List.of(condition(JobMatchConditions.REQUESTS_QUEUEING, asks)))));
      if (registration.isOn(kind)) {
        webhooks.add(
            mutating(
                kind,
                name("m", kind, "-without-queue"),
                IGNORE,
                List.of(condition("names-no-queue", "!(" + asks + ")"))));
      }
    }
    if (registration.further().contains(WebhookRegistration.Further.PODS_OF_POD_GROUPS)) {
      webhooks.add(podsOfPodGroups());
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
              .withName(name("v", kind, ""))
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
            rule(
                "",
                "v1",
                List.of("CREATE", "UPDATE"),
                List.of("pods", "pods/" + PodResizeProtection.RESIZE)))
        .build();
  }

  /**
   * The webhook that makes pods members of PodGroups. It fails closed: a pod that got past it would
   * be bound alone, and the others of its group would wait for it for ever.
   */
  private MutatingWebhook podsOfPodGroups() {
    return new MutatingWebhookBuilder()
        .withName("mpods-of-podgroups.kb.io")
        .withAdmissionReviewVersions("v1")
        .withSideEffects("None")
        .withFailurePolicy(FAIL)
        .withMatchPolicy("Equivalent")
        .withReinvocationPolicy(registration.reinvocationPolicy())
        .withTimeoutSeconds(TIMEOUT_SECONDS)
        .withClientConfig(clientConfig(PodGroupMembershipWebhook.PATH))
        .withNamespaceSelector(selector(registration.namespaces()))
        .withMatchConditions(condition("names-a-podgroup", PodGroupMembershipWebhook.NAMES_A_GROUP))
        .withRules(rule("", "v1", List.of("CREATE"), List.of("pods")))
        .build();
  }

  /**
   * The name of a webhook, which no other one may have. Kinds of the same name are told apart by
   * their groups: the cluster declares kinds that may be named like a built-in one.
   */
  private String name(String prefix, WebhookKind kind, String suffix) {
    boolean taken =
        all.stream()
            .takeWhile(other -> !other.equals(kind))
            .anyMatch(other -> other.lowerKind().equals(kind.lowerKind()));
    return prefix + kind.lowerKind() + suffix + (taken ? "." + kind.group() : "") + ".kb.io";
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

  /** Those of a mutating webhook, which is asked at updates of few kinds. */
  private static List<MatchCondition> unlessItEnds(
      WebhookKind kind, List<MatchCondition> conditions) {
    return kind.isOwn() || !kind.mutating().contains("UPDATE")
        ? conditions
        : Stream.concat(
                conditions.stream(),
                Stream.of(condition(MORE_THAN_ITS_END, JobMatchConditions.MORE_THAN_FINALIZERS)))
            .toList();
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
    conditions.add(condition(MORE_THAN_ITS_END, JobMatchConditions.MORE_THAN_FINALIZERS));
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
    return rule(kind.group(), kind.version(), operations, resources);
  }

  private static RuleWithOperations rule(
      String group, String version, List<String> operations, List<String> resources) {
    return new RuleWithOperationsBuilder()
        .withApiGroups(group)
        .withApiVersions(version)
        .withOperations(operations)
        .withResources(resources)
        .withScope("*")
        .build();
  }

  /**
   * Match conditions of the webhooks for Workloads. A review costs more than the write itself, and
   * most writes change only conditions, which the schema of the API validates already. The
   * expressions skip writes that cannot break a rule and request a review in doubt. No expression
   * may fail for any object: a failure would reject the write.
   */
  private static final class WorkloadMatchConditions {

    /** Defaults are a limit of the queue, and no minCount while its feature gate is disabled. */
    private static final String HAS_DEFAULTS =
        "(object.?spec.?queueName.orValue('') != ''"
            + " && object.?spec.?maximumExecutionTimeSeconds.orValue(0) == 0)"
            + " || object.?spec.?podSets.orValue([]).exists(p, has(p.minCount))";

    private static final String NEW_SPEC =
        "oldObject == null || object.?spec != oldObject.?spec"
            + " || object.metadata.?annotations != oldObject.metadata.?annotations";

    /** By that a Workload is a parent or a variant. */
    private static final String NEW_FAMILY =
        "object.metadata.?labels[?'%1$s'] != oldObject.metadata.?labels[?'%1$s'] || %2$s != %3$s"
            .formatted(
                KueueConstants.CONCURRENT_ADMISSION_PARENT,
                ownersOf("object"),
                ownersOf("oldObject"));

    private static final String NEW_STATUS =
        "['admissionChecks', 'reclaimablePods', 'clusterName'].exists(f,"
            + " object.?status[?f] != oldObject.?status[?f])";

    private static final String QUOTA_WITHOUT_ADMISSION =
        "(!object.?status.?admission.hasValue()"
            + " && object.?status.?conditions.orValue([])"
            + ".exists(c, c.type == 'QuotaReserved' && c.status == 'True'))";

    /** Known pod sets, and whole amounts that are multiples of the count. */
    private static final String PLAIN_ASSIGNMENT =
        "object.?spec.?podSets.orValue([])"
            + ".exists(p, p.?name.orValue('main') == a.?name.orValue('main'))"
            + " && a.?resourceUsage.orValue({}).all(r,"
            + " isQuantity(string(a.resourceUsage[r]))"
            + " && quantity(string(a.resourceUsage[r])).isInteger()"
            + " && quantity(string(a.resourceUsage[r])).asInteger() >= 0"
            + " && (a.?count.orValue(0) <= 0"
            + " || quantity(string(a.resourceUsage[r])).asInteger() % a.?count.orValue(1) == 0))";

    private static final String UNUSUAL_ADMISSION =
        "(object.?status.?admission.hasValue()"
            + " && object.?status.?admission != oldObject.?status.?admission"
            + " && (oldObject.?status.?admission.hasValue()"
            + " || !object.status.admission.?podSetAssignments.orValue([]).all(a, "
            + PLAIN_ASSIGNMENT
            + ")))";

    private WorkloadMatchConditions() {}

    /** The Workloads among the owners. */
    private static String ownersOf(String object) {
      return object
          + ".metadata.?ownerReferences.orValue([]).filter(o, o.kind == 'Workload').map(o, o.uid)";
    }

    /** Match conditions of the validating webhook. */
    static List<MatchCondition> validating() {
      return List.of(
          new MatchCondition(
              String.join(
                  " || ",
                  NEW_SPEC,
                  NEW_FAMILY,
                  NEW_STATUS,
                  QUOTA_WITHOUT_ADMISSION,
                  UNUSUAL_ADMISSION),
              "changes-more-than-conditions"));
    }

    /** Match conditions of the mutating webhook. */
    static List<MatchCondition> mutating() {
      return List.of(new MatchCondition(HAS_DEFAULTS, "has-defaults"));
    }
  }

  /**
   * Match conditions of the webhooks for jobs. No expression may fail for any object: a failure
   * would reject the write.
   */
  private static final class JobMatchConditions {

    /** Name of the condition that a job requests queueing. */
    static final String REQUESTS_QUEUEING = "names-a-queue";

    /** Whatever is judged of a job is in its spec, or in one of these fields of its metadata. */
    static final String MORE_THAN_FINALIZERS =
        "oldObject == null || !has(object.metadata.deletionTimestamp)"
            + " || object.?spec != oldObject.?spec"
            + " || ['labels', 'annotations', 'ownerReferences'].exists(f,"
            + " object.metadata[?f] != oldObject.metadata[?f])";

    private static final String NAMES_A_QUEUE =
        hasLabel("object", KueueConstants.QUEUE_NAME)
            + " || "
            + hasAnnotation("object", KueueConstants.QUEUE_NAME);

    /** Pods name their gates; pods of a started job carry keys that need no review. */
    private static final String IS_GATED =
        hasAnnotation("object", KueueConstants.POD_SUSPENDING_PARENT);

    private static final String SPEAKS_TO_US =
        "[object, oldObject].exists(o, o != null && ("
            + "(has(o.metadata.labels) && o.metadata.labels.exists(k, k.startsWith('%1$s/')"
            + " || k in [%2$s]))"
            + " || (has(o.metadata.annotations)"
            + " && o.metadata.annotations.exists(k, k.startsWith('%1$s/')))"
            + " || (has(o.spec) && has(o.spec.template) && has(o.spec.template.metadata)"
            + " && has(o.spec.template.metadata.annotations)"
            + " && o.spec.template.metadata.annotations.exists(k, k.startsWith('%1$s/')))))";

    private static final String POD_SPEAKS_TO_US =
        "[object, oldObject].exists(o, o != null && ("
            + "(has(o.metadata.labels) && [%s].exists(k, k in o.metadata.labels))"
            + " || (has(o.metadata.annotations) && [%s].exists(k, k in o.metadata.annotations))))";

    /** A resize of a pod that was started by the operator, or that a Job controls. */
    private static final String RESIZES =
        " || (has(request.subResource) && request.subResource == 'resize' && ("
            + "(has(object.metadata.labels)"
            + " && object.metadata.labels.exists(k, k.startsWith('%1$s/')))"
            + " || (has(object.metadata.ownerReferences)"
            + " && object.metadata.ownerReferences.exists(r, r.kind == 'Job'))))";

    private JobMatchConditions() {}

    /** The expression that an object of this kind requests queueing. */
    static String requestsQueueing(WebhookKind kind) {
      return kind.isPod() ? NAMES_A_QUEUE + " || " + IS_GATED : NAMES_A_QUEUE;
    }

    /**
     * The expression that an object of this kind has, or had, a label or annotation that is
     * validated.
     */
    static String usesOurKeys(WebhookKind kind) {
      return kind.isPod()
          ? POD_SPEAKS_TO_US.formatted(
                  quoted(
                      KueueConstants.QUEUE_NAME,
                      KueueConstants.MANAGED,
                      KueueConstants.POD_GROUP_NAME,
                      KueueConstants.PREBUILT_WORKLOAD_NAME,
                      KueueConstants.MAX_EXEC_TIME_SECONDS),
                  quoted(
                      KueueConstants.QUEUE_NAME,
                      KueueConstants.POD_SUSPENDING_PARENT,
                      KueueConstants.POD_GROUP_NAME,
                      KueueConstants.POD_GROUP_TOTAL_COUNT,
                      KueueConstants.PREBUILT_WORKLOAD_NAME,
                      KueueConstants.ADMISSION_GATED_BY))
              + RESIZES.formatted(KueueConstants.GROUP)
          : SPEAKS_TO_US.formatted(
              KueueConstants.GROUP,
              quoted(MisnamedQueueLabels.WITHOUT_PREFIX.toArray(String[]::new)));
    }

    private static String quoted(String... keys) {
      return List.of(keys).stream().map(key -> "'" + key + "'").collect(Collectors.joining(", "));
    }

    private static String hasLabel(String object, String key) {
      return has(object, "labels", key);
    }

    private static String hasAnnotation(String object, String key) {
      return has(object, "annotations", key);
    }

    private static String has(String object, String map, String key) {
      return "(has(%1$s.metadata.%2$s) && '%3$s' in %1$s.metadata.%2$s)"
          .formatted(object, map, key);
    }
  }
}
