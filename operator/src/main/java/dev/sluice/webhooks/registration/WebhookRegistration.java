package dev.sluice.webhooks.registration;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.Configuration.PodAccounting;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.JobFrameworks;
import dev.sluice.api.config.Selector;
import dev.sluice.jobs.kind.AddedKinds;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.webhooks.kinds.WebhookKind;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Input of the webhook configurations.
 *
 * @param target address of the webhook server
 * @param caBundle certificate authorities of the server, in base64; empty if they are injected
 *     later
 * @param operatorNamespace the operator's own namespace
 * @param kinds the kinds of jobs that are reviewed
 * @param further what is reviewed besides objects that speak of queues
 * @param managedNamespaces selects the namespaces whose jobs are reviewed; empty: all except those
 *     of the system and of the operator
 * @param trustedUser the operator's own user, whose writes of Workloads and updates of jobs are not
 *     reviewed; empty: all writes are reviewed
 * @param reinvocationPolicy {@code Never} or {@code IfNeeded}
 */
public record WebhookRegistration(
    Target target,
    String caBundle,
    String operatorNamespace,
    Kinds kinds,
    Set<Further> further,
    Optional<Selector> managedNamespaces,
    Optional<String> trustedUser,
    String reinvocationPolicy) {

  private static final String NAMESPACE_NAME = "kubernetes.io/metadata.name";

  /** Copies the collections. */
  public WebhookRegistration {
    further = Set.copyOf(further);
  }

  /**
   * The kinds of jobs that are reviewed.
   *
   * @param frameworks the enabled integrations, whose webhooks fail closed
   * @param prepared integrations that may be enabled later without a new registration; until then
   *     their webhooks fail open
   * @param declared the kinds that the cluster declares
   */
  public record Kinds(
      Set<String> frameworks, Set<String> prepared, List<JobKindDescription> declared) {

    /** Copies the collections. */
    public Kinds {
      frameworks = Set.copyOf(frameworks);
      prepared = Set.copyOf(prepared);
      declared = List.copyOf(declared);
    }

    private static Kinds of(Configuration configuration, Set<String> prepared) {
      return new Kinds(
          Set.copyOf(configuration.integrations().frameworks()),
          prepared,
          List.copyOf(AddedKinds.of(configuration)));
    }

    /** All that can be reviewed. */
    List<WebhookKind> all() {
      return WebhookKind.all(declared);
    }

    private boolean covers(WebhookKind kind) {
      return kind.isOwn() || kind.isEnabledBy(frameworks) || prepared.contains(kind.framework());
    }
  }

  /** What is reviewed besides objects that speak of queues. */
  public enum Further {
    /** Jobs without a queue name are managed, too. */
    JOBS_WITHOUT_QUEUE_NAME,
    /** Pods of jobs are compared with what these were admitted with before they exist. */
    PODS_OF_JOBS,
    /** Pods become members of the PodGroups of kube-scheduler that starts made for them. */
    PODS_OF_POD_GROUPS
  }

  /** Address of the webhook server. */
  public sealed interface Target {}

  /**
   * A Service in the cluster.
   *
   * @param name name of the Service
   * @param namespace namespace of the Service
   * @param port port of the Service
   */
  public record Service(String name, String namespace, int port) implements Target {}

  /**
   * A URL.
   *
   * @param base scheme, host and port, without a trailing slash
   */
  public record Url(String base) implements Target {}

  /** The registration of the shipped manifests: a Service, all kinds, CA bundle injected later. */
  public static WebhookRegistration shipped(String namespace, String serviceName, String user) {
    return new WebhookRegistration(
        new Service(serviceName, namespace, 443),
        "",
        namespace,
        new Kinds(
            Set.copyOf(JobFrameworks.shipped()), Set.copyOf(JobFrameworks.optional()), List.of()),
        Set.of(),
        Optional.empty(),
        Optional.of(user),
        "Never");
  }

  /**
   * What is put back in the place of the shipped registration: as {@link #shipped} makes it, for
   * this configuration.
   *
   * @param user the operator's own
   */
  public static WebhookRegistration restored(Configuration configuration, String user) {
    return new WebhookRegistration(
        service(configuration),
        "",
        configuration.namespace(),
        Kinds.of(configuration, Set.copyOf(JobFrameworks.optional())),
        further(configuration),
        Optional.of(configuration.managedJobsNamespaceSelector()),
        Optional.of(user),
        "Never");
  }

  /** What this configuration needs, without a CA bundle and without a trusted user. */
  public static WebhookRegistration of(Configuration configuration, Target target) {
    return new WebhookRegistration(
        target,
        "",
        configuration.namespace(),
        Kinds.of(configuration, Set.of()),
        further(configuration),
        Optional.of(configuration.managedJobsNamespaceSelector()),
        Optional.empty(),
        "Never");
  }

  private static Set<Further> further(Configuration configuration) {
    Set<Further> further = EnumSet.noneOf(Further.class);
    if (configuration.manageJobsWithoutQueueName()) {
      further.add(Further.JOBS_WITHOUT_QUEUE_NAME);
    }
    if (configuration.podAccounting() == PodAccounting.PREVENT) {
      further.add(Further.PODS_OF_JOBS);
    }
    if (configuration.featureGates().enabled(FeatureGate.WAS_POD_GROUPS)) {
      further.add(Further.PODS_OF_POD_GROUPS);
    }
    return further;
  }

  /** The same, where writes of this user are not reviewed; empty: all writes are reviewed. */
  public WebhookRegistration trusting(Optional<String> user) {
    return new WebhookRegistration(
        target,
        caBundle,
        operatorNamespace,
        kinds,
        further,
        managedNamespaces,
        user,
        reinvocationPolicy);
  }

  /** The Service of the operator that has this configuration. */
  public static Service service(Configuration configuration) {
    return new Service(
        configuration.internalCertManagement().webhookServiceName(),
        configuration.namespace(),
        443);
  }

  /** Whether objects of this kind are reviewed. */
  boolean covers(WebhookKind kind) {
    return kinds.covers(kind);
  }

  /** Whether jobs without a queue name are managed. */
  boolean manageJobsWithoutQueueName() {
    return further.contains(Further.JOBS_WITHOUT_QUEUE_NAME);
  }

  /** Whether the webhook of this kind fails closed. */
  boolean isOn(WebhookKind kind) {
    return kinds.frameworks().contains(kind.framework());
  }

  /** The namespaces whose jobs are reviewed. */
  Selector namespaces() {
    return managedNamespaces.orElseGet(
        () ->
            new Selector(
                Map.of(),
                List.of(
                    new Selector.Requirement(
                        NAMESPACE_NAME,
                        Selector.Operator.NOT_IN,
                        List.of("kube-system", operatorNamespace)))));
  }
}
