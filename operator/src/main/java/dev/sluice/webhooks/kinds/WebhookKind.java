package dev.sluice.webhooks.kinds;

import dev.sluice.api.ApiVersions;
import dev.sluice.api.sluice.JobKindReader;
import dev.sluice.api.sluice.ReservationReader;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kind.WebhookRules;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A kind that the webhooks handle.
 *
 * @param type the kind; its framework is empty for the operator's own kinds
 * @param mutating operations of the mutating webhook; empty for none
 * @param validating resources of the validating webhook, with {@code /status} where the status is
 *     validated as well
 * @param enabledBy the frameworks any of which has objects of the kind reviewed
 * @param review what is set and validated in jobs; {@code Unreviewed} for the operator's own kinds,
 *     which have functions of their own
 * @param job what is known of the kind of job; empty for the operator's own kinds
 */
public record WebhookKind(
    JobKind type,
    List<String> mutating,
    List<String> validating,
    Set<String> enabledBy,
    WebhookRules.Review review,
    Optional<JobKindDescription> job) {

  private static final List<String> CREATE = List.of("CREATE");

  /** All kinds that the webhooks handle: the operator's own, and those of the job framework. */
  public static List<WebhookKind> all() {
    return all(List.of());
  }

  /** The same, and those that the cluster declares. */
  public static List<WebhookKind> all(List<JobKindDescription> declared) {
    return with(
        Stream.concat(BuiltInIntegrations.descriptions().stream(), declared.stream()).toList());
  }

  /** The operator's own kinds, and these kinds of jobs. */
  public static List<WebhookKind> with(List<JobKindDescription> jobs) {
    List<WebhookKind> kinds = new ArrayList<>();
    kinds.add(own("ClusterQueue", "clusterqueues", CREATE, "clusterqueues"));
    kinds.add(own("ResourceFlavor", "resourceflavors", CREATE, "resourceflavors"));
    kinds.add(own("Workload", "workloads", CREATE, "workloads", "workloads/status"));
    kinds.add(own("Cohort", "cohorts", List.of(), "cohorts"));
    kinds.add(own("LocalQueue", "localqueues", List.of(), "localqueues"));
    kinds.add(
        own(
            "WorkloadPriorityClass",
            "workloadpriorityclasses",
            List.of(),
            "workloadpriorityclasses"));
    kinds.add(own("AdmissionCheck", "admissionchecks", List.of(), "admissionchecks"));
    kinds.add(ofSluice("Budget", "budgets"));
    kinds.add(ofSluice("JobKind", JobKindReader.PLURAL));
    for (ReservationReader.Kind each : ReservationReader.Kind.values()) {
      kinds.add(ofSluice(each.apiName(), each.plural()));
    }
    jobs.forEach(job -> kinds.add(of(job, jobs)));
    return List.copyOf(kinds);
  }

  private static WebhookKind ofSluice(String kind, String plural) {
    return new WebhookKind(
        new JobKind(ApiVersions.SLUICE_GROUP, ApiVersions.SLUICE_VERSION, kind, plural, ""),
        List.of(),
        List.of(plural),
        Set.of(),
        new WebhookRules.Review.Unreviewed(),
        Optional.empty());
  }

  private static WebhookKind own(
      String kind, String plural, List<String> mutating, String... validating) {
    return new WebhookKind(
        new JobKind(ApiVersions.GROUP, "v1beta2", kind, plural, ""),
        mutating,
        List.of(validating),
        Set.of(),
        new WebhookRules.Review.Unreviewed(),
        Optional.empty());
  }

  private static WebhookKind of(JobKindDescription job, List<JobKindDescription> all) {
    Set<String> enabledBy =
        Stream.concat(
                Stream.of(job), all.stream().filter(other -> other.watches().contains(job.kind())))
            .map(each -> each.kind().framework())
            .collect(Collectors.toUnmodifiableSet());
    return new WebhookKind(
        job.kind(),
        job.webhooks().mutating(),
        reviewed(job),
        enabledBy,
        job.webhooks().review(),
        Optional.of(job));
  }

  private static List<String> reviewed(JobKindDescription job) {
    String plural = job.kind().plural();
    return job.webhooks().review() instanceof WebhookRules.Review.GatedPod
        ? List.of(plural, plural + "/" + PodResizeProtection.RESIZE)
        : List.of(plural);
  }

  /** The name of the kind. */
  public String kind() {
    return type.kind();
  }

  /** The API group; empty for the core group. */
  public String group() {
    return type.group();
  }

  /** The version of the group. */
  public String version() {
    return type.version();
  }

  /** The plural of the kind. */
  public String plural() {
    return type.plural();
  }

  /** The name of the integration; empty for the operator's own kinds. */
  public String framework() {
    return type.framework();
  }

  /** Whether the kind belongs to the operator's own API. */
  public boolean isOwn() {
    return framework().isEmpty();
  }

  /** Whether one of these frameworks has objects of the kind reviewed. */
  public boolean isEnabledBy(Collection<String> frameworks) {
    return frameworks.stream().anyMatch(enabledBy::contains);
  }

  /** Whether the kind is Pod. */
  public boolean isPod() {
    return review instanceof WebhookRules.Review.GatedPod;
  }

  /** The path of the mutating webhook. */
  public String mutatingPath() {
    return "/mutate-" + suffix();
  }

  /** The path of the validating webhook. */
  public String validatingPath() {
    return "/validate-" + suffix();
  }

  private String suffix() {
    return group().replace('.', '-') + "-" + version() + "-" + lowerKind();
  }

  /** The name of the kind in lower case, as paths and names of webhooks have it. */
  public String lowerKind() {
    return kind().toLowerCase(Locale.ROOT);
  }
}
