package dev.sluice.jobs.kinds.leaderworkerset;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.GatedKind;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.kind.TopologyRequests;
import dev.sluice.jobs.kind.WebhookRules;
import dev.sluice.jobs.kinds.pod.GatedSet;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * LeaderWorkerSets as jobs (docs/pods.md#leaderworkersets); the pod sets are those of one group.
 * They are neither started nor stopped themselves: that happens to their pods.
 */
public final class LeaderWorkerSets implements JobIntegration, GatedKind {

  /** The kind. */
  public static final JobKind KIND =
      JobKind.of("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet");

  /** What labels and annotations of the kind's own controller begin with. */
  static final String PREFIX = "leaderworkerset.sigs.k8s.io";

  /** The label that names the LeaderWorkerSet of a pod. */
  static final String NAME_LABEL = PREFIX + "/name";

  /** The label of a pod's place in its group. */
  static final String INDEX_LABEL = PREFIX + "/worker-index";

  @Override
  public JobKind kind() {
    return KIND;
  }

  @Override
  public WebhookRules webhooks() {
    return WebhookRules.atUpdatesToo(new WebhookRules.Review.GatedGroups());
  }

  @Override
  public Optional<MultiKueueRules> multiKueue() {
    return Optional.of(
        MultiKueueRules.byPods(MultiKueueRules.Dropped.NOTHING, MultiKueueRules.Pods.MADE_IN_GROUPS)
            .pushing(List.of(List.of("spec"))));
  }

  /** Each replica is a group of pods. */
  @Override
  public Made made(ObjectNode set) {
    return Made.replicas(set, set, "groups");
  }

  /** Its controller creates pods, and StatefulSets of pods. */
  @Override
  public boolean creates(String kind) {
    return kind.equals(SinglePod.KIND.kind()) || kind.equals("StatefulSet");
  }

  @Override
  public boolean sharesWorkload() {
    return true;
  }

  @Override
  public Set<JobKind> watches() {
    return Set.of(SinglePod.KIND);
  }

  /** A set is never written: what holds it back are its pods. */
  @Override
  public List<RbacRule> roles() {
    return RbacRule.ofWatch(KIND);
  }

  /** The view of a LeaderWorkerSet. */
  public CachedLeaderWorkerSet view(JsonNode object) {
    JsonNode spec = object.path("spec");
    String surge =
        JsonFields.at(spec, "rolloutStrategy", "rollingUpdateConfiguration", "maxSurge").asText();
    return new CachedLeaderWorkerSet(
        CachedJobParser.of(this, object),
        Math.max(0, spec.path("replicas").asInt(1)),
        size(object),
        object.path("status").path("replicas").asInt(),
        !surge.isEmpty() && !surge.equals("0") && !surge.equals("0%"));
  }

  private static int size(JsonNode object) {
    return Math.max(1, template(object).path("size").asInt(1));
  }

  private static JsonNode template(JsonNode object) {
    return object.path("spec").path("leaderWorkerTemplate");
  }

  @Override
  public JobState state(JsonNode object) {
    JsonNode annotations =
        JsonFields.at(template(object), "workerTemplate", "metadata", "annotations");
    JsonNode status = object.path("status");
    return new JobState(
        annotations.path(KueueConstants.POD_SUSPENDING_PARENT).asText().equals(KIND.framework()),
        true,
        false,
        status.path("replicas").asInt() > 0,
        Optional.empty(),
        status.path("readyReplicas").asInt() >= object.path("spec").path("replicas").asInt(1),
        Map.of());
  }

  @Override
  public List<PodSetTemplate> podSets(JsonNode object) {
    JsonNode templates = template(object);
    int size = size(object);
    if (!templates.hasNonNull("leaderTemplate")) {
      return List.of(podSet("main", size, templates.path("workerTemplate")));
    }
    List<PodSetTemplate> podSets = new ArrayList<>();
    podSets.add(podSet("leader", 1, templates.path("leaderTemplate")));
    if (size > 1) {
      podSets.add(podSet("worker", size - 1, templates.path("workerTemplate")));
    }
    return podSets;
  }

  /** What the controller of the kind writes into templates is its own business. */
  private static PodSetTemplate podSet(String name, int count, JsonNode given) {
    ObjectNode template =
        given instanceof ObjectNode object
            ? object.deepCopy()
            : JsonNodeFactory.instance.objectNode();
    for (String field : List.of("labels", "annotations")) {
      if (template.path("metadata").path(field) instanceof ObjectNode map) {
        map.properties()
            .removeIf(it -> it.getKey().startsWith(PREFIX) && !it.getKey().equals(NAME_LABEL));
      }
    }
    return new PodSetTemplate(name, count, 0, template, TopologyRequests.of(template, INDEX_LABEL));
  }

  @Override
  public List<JobPatch> start(ObjectNode object, List<PodSetInfo> starts) {
    return List.of();
  }

  @Override
  public Optional<JobPatch> nextStopStep(JsonNode object, Optional<List<PodSetTemplate>> original) {
    return Optional.empty();
  }

  /**
   * What is kept of a LeaderWorkerSet.
   *
   * @param job the set in the words of all jobs, with the pod sets of one group; its text is there
   *     only while its pods are held back
   * @param replicas how many groups it is to have
   * @param size how many pods a group has
   * @param present how many groups it has, those on their way out included
   * @param surging whether a rollout may make more groups than {@code replicas}
   */
  public record CachedLeaderWorkerSet(
      CachedJob job, int replicas, int size, int present, boolean surging) implements GatedSet {

    /** Whether the manager of several clusters sent it here, and its Workloads with it. */
    boolean isSent() {
      return job.labels().containsKey(KueueConstants.MULTIKUEUE_ORIGIN);
    }

    /** The UID by which its Workloads are named. */
    String uidOfOrigin() {
      String origin = job.annotations().getOrDefault(KueueConstants.MULTIKUEUE_ORIGIN_UID, "");
      return origin.isEmpty() ? job.ref().uid() : origin;
    }

    /** How many groups have a Workload; those that a rollout made in addition are counted. */
    int groups() {
      return surging ? Math.max(replicas, present) : replicas;
    }
  }
}
