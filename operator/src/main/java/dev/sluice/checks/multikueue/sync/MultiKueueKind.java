package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.PodSetTemplate;
import java.util.List;
import java.util.Optional;

/**
 * A job kind that can be dispatched to other clusters.
 *
 * @param job the kind, in the version in which it is read and written
 * @param rules how jobs of the kind are mirrored
 * @param integration how jobs of the kind are started and stopped; empty if nobody here does that,
 *     or no field does
 */
public record MultiKueueKind(
    JobKind job, MultiKueueRules rules, Optional<JobIntegration> integration) {

  /** The kind of a description; empty if its jobs can't be dispatched. */
  static Optional<MultiKueueKind> of(JobKindDescription description) {
    return description
        .multiKueue()
        .map(
            rules ->
                new MultiKueueKind(
                    description.kind(),
                    rules,
                    description instanceof JobIntegration integration && !rules.suspend().isEmpty()
                        ? Optional.of(integration)
                        : Optional.empty()));
  }

  /** Whether a job of the manager may have what a start gave it. */
  boolean isStarted(JsonNode object) {
    Optional<JobState> state = integration.map(it -> it.state(object));
    return state.filter(it -> !it.suspended() || it.stopUnfinished()).isPresent();
  }

  /** The job as it was before its start, by the templates of its Workload. */
  ObjectNode unstarted(ObjectNode object, JsonNode workload) {
    return integration
        .map(it -> it.unstarted(object, PodSetTemplate.listOf(workload)))
        .orElse(object);
  }

  String group() {
    return job.group();
  }

  String version() {
    return job.version();
  }

  String kind() {
    return job.kind();
  }

  String plural() {
    return job.plural();
  }

  List<List<String>> managedBy() {
    return rules.managedBy();
  }

  List<String> suspend() {
    return rules.suspend();
  }

  MultiKueueRules.Dropped dropped() {
    return rules.dropped();
  }

  List<List<String>> pushed() {
    return rules.pushed();
  }

  MultiKueueRules.StatusRules status() {
    return rules.status();
  }

  MultiKueueRules.Pods pods() {
    return rules.pods();
  }

  /** Whether a job has a Workload for each of its groups of pods. */
  boolean hasWorkloadPerGroup() {
    return rules.pods() == MultiKueueRules.Pods.MADE_IN_GROUPS;
  }

  /** {@code group/version}, or the version alone for the core group. */
  public String apiVersion() {
    return job.apiVersion();
  }

  /** {@code Kind.version.group}, as in configurations. */
  public String name() {
    return kind() + "." + version() + (group().isEmpty() ? "" : "." + group());
  }

  /** Copy without pushed fields. */
  MultiKueueKind withoutPushes() {
    return new MultiKueueKind(job, rules.pushing(List.of()), integration);
  }

  /** Whether an owner reference with these fields refers to this kind, in any version. */
  boolean is(String ownerApiVersion, String ownerKind) {
    return job.is(ownerApiVersion, ownerKind);
  }

  /** The path of all objects in all namespaces at an API server. */
  String everywhere() {
    return root() + plural();
  }

  /** The path of all objects of a namespace at an API server. */
  String path(String namespace) {
    return root() + "namespaces/" + namespace + "/" + plural();
  }

  /** The path of one object at an API server. */
  String path(String namespace, String name) {
    return path(namespace) + "/" + name;
  }

  private String root() {
    return (group().isEmpty() ? "api/" : "apis/") + apiVersion() + "/";
  }
}
