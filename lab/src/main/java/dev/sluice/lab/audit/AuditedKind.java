package dev.sluice.lab.audit;

import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.util.Set;

/** The kinds whose history is recorded. */
public enum AuditedKind {
  /** {@code batch/v1} Job. */
  JOB("batch", "v1", "Job", "jobs", true),
  /** {@code v1} Pod. */
  POD("", "v1", "Pod", "pods", true),
  /** {@code kueue.x-k8s.io/v1beta2} Workload. */
  WORKLOAD("kueue.x-k8s.io", "v1beta2", "Workload", "workloads", true),
  /** {@code kueue.x-k8s.io/v1beta2} ClusterQueue. */
  CLUSTER_QUEUE("kueue.x-k8s.io", "v1beta2", "ClusterQueue", "clusterqueues", false),
  /** {@code kueue.x-k8s.io/v1beta2} LocalQueue; recorded only on request. */
  LOCAL_QUEUE("kueue.x-k8s.io", "v1beta2", "LocalQueue", "localqueues", true),
  /** {@code kueue.x-k8s.io/v1beta2} Cohort; recorded only on request. */
  COHORT("kueue.x-k8s.io", "v1beta2", "Cohort", "cohorts", false);

  /** The kinds that the {@link Auditor} evaluates. */
  public static final Set<AuditedKind> JUDGED = Set.of(JOB, POD, WORKLOAD, CLUSTER_QUEUE);

  private final String group;
  private final String version;
  private final String kind;
  private final String plural;
  private final boolean namespaced;

  AuditedKind(String group, String version, String kind, String plural, boolean namespaced) {
    this.group = group;
    this.version = version;
    this.kind = kind;
    this.plural = plural;
    this.namespaced = namespaced;
  }

  /** The API group; empty for the core group. */
  public String group() {
    return group;
  }

  /** The resource name, such as {@code jobs}. */
  public String plural() {
    return plural;
  }

  /** The resource definition, for a client without typed classes. */
  public ResourceDefinitionContext context() {
    return new ResourceDefinitionContext.Builder()
        .withGroup(group)
        .withVersion(version)
        .withKind(kind)
        .withPlural(plural)
        .withNamespaced(namespaced)
        .build();
  }
}
