package dev.sluice.jobs.kinds.statefulset;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
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
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * StatefulSets as jobs (docs/pods.md). They are neither started nor stopped themselves: that
 * happens to their pods.
 */
public final class StatefulSets implements JobIntegration, GatedKind {

  /** The kind. */
  public static final JobKind KIND =
      new JobKind("apps", "v1", "StatefulSet", "statefulsets", "statefulset");

  /** The only pod set. */
  static final String POD_SET = "main";

  /** By which its pods tell their place. */
  static final String INDEX_LABEL = "apps.kubernetes.io/pod-index";

  @Override
  public JobKind kind() {
    return KIND;
  }

  @Override
  public WebhookRules webhooks() {
    return WebhookRules.atUpdatesToo(new WebhookRules.Review.GatedTemplate(true));
  }

  @Override
  public Optional<MultiKueueRules> multiKueue() {
    return Optional.of(
        MultiKueueRules.byPods(MultiKueueRules.Dropped.NOTHING, MultiKueueRules.Pods.MADE));
  }

  /** All its pods are one job. */
  @Override
  public Made made(ObjectNode set) {
    return Made.one(set);
  }

  /** Its controller creates nothing but pods. */
  @Override
  public boolean creates(String kind) {
    return kind.equals(SinglePod.KIND.kind());
  }

  /** Its controller ignores pods that it didn't create. */
  @Override
  public boolean adopts(Map<String, String> labels, String uid) {
    return false;
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

  /** The view of a StatefulSet. */
  public CachedStatefulSet view(JsonNode object) {
    JsonNode status = object.path("status");
    return new CachedStatefulSet(
        CachedJobParser.of(this, object),
        replicas(object),
        status.path("replicas").asInt(),
        status.path("currentRevision").asText(),
        status.path("updateRevision").asText(),
        object.path("spec").path("ordinals").path("start").asInt(),
        object.path("spec").path("updateStrategy").path("rollingUpdate").path("partition").asInt());
  }

  private static int replicas(JsonNode object) {
    return object.path("spec").path("replicas").asInt(1);
  }

  @Override
  public JobState state(JsonNode object) {
    String parent =
        object
            .path("spec")
            .path("template")
            .path("metadata")
            .path("annotations")
            .path(KueueConstants.POD_SUSPENDING_PARENT)
            .asText();
    JsonNode status = object.path("status");
    return new JobState(
        parent.equals(KIND.framework()),
        true,
        false,
        status.path("replicas").asInt() > 0,
        Optional.empty(),
        status.path("readyReplicas").asInt() >= replicas(object),
        Map.of());
  }

  @Override
  public List<PodSetTemplate> podSets(JsonNode object) {
    JsonNode template = object.path("spec").path("template");
    return List.of(
        new PodSetTemplate(
            POD_SET,
            replicas(object),
            0,
            template instanceof ObjectNode given
                ? given.deepCopy()
                : JsonNodeFactory.instance.objectNode(),
            TopologyRequests.of(template, INDEX_LABEL)));
  }

  @Override
  public List<JobPatch> start(ObjectNode object, List<PodSetInfo> starts) {
    return List.of();
  }

  @Override
  public Optional<JobPatch> nextStopStep(JsonNode object, Optional<List<PodSetTemplate>> original) {
    return Optional.empty();
  }
}
