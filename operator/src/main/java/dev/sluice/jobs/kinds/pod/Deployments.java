package dev.sluice.jobs.kinds.pod;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.GatedKind;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.kind.WebhookRules;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Deployments: each of their pods is a job of its own, so they need no controller. */
public final class Deployments implements GatedKind {

  /** The kind. */
  public static final JobKind KIND =
      new JobKind("apps", "v1", "Deployment", "deployments", "deployment");

  @Override
  public JobKind kind() {
    return KIND;
  }

  @Override
  public WebhookRules webhooks() {
    return WebhookRules.atUpdatesToo(new WebhookRules.Review.GatedTemplate(false));
  }

  /** Pods of the template: the webhook of the Deployment has written its queue there. */
  @Override
  public Made made(ObjectNode deployment) {
    JsonNode template = deployment.path("spec").path("template");
    ObjectNode pod = JsonNodeFactory.instance.objectNode();
    pod.put("apiVersion", SinglePod.KIND.apiVersion()).put("kind", SinglePod.KIND.kind());
    ObjectNode metadata =
        template.path("metadata") instanceof ObjectNode given
            ? given.deepCopy()
            : JsonNodeFactory.instance.objectNode();
    metadata
        .put("namespace", deployment.path("metadata").path("namespace").asText())
        .put("generateName", deployment.path("metadata").path("name").asText() + "-");
    pod.set("metadata", metadata);
    pod.set("spec", template.path("spec"));
    return Made.replicas(deployment, pod, "pods");
  }

  /** Its controller creates nothing but pods. */
  @Override
  public boolean creates(String kind) {
    return kind.equals(SinglePod.KIND.kind());
  }

  /** A ReplicaSet, which has no description, creates pods only as well. */
  @Override
  public boolean speaksForGroup() {
    return true;
  }

  /** Its controller ignores pods that it didn't create. */
  @Override
  public boolean adopts(Map<String, String> labels, String uid) {
    return false;
  }

  @Override
  public Set<JobKind> watches() {
    return Set.of(SinglePod.KIND);
  }

  /** Only the webhooks handle Deployments; ReplicaSets tell which pods are a Deployment's. */
  @Override
  public List<RbacRule> roles() {
    JobKind replicaSets = DeploymentUids.REPLICA_SET;
    return List.of(
        new RbacRule(replicaSets.group(), replicaSets.plural(), List.of("list", "watch")));
  }
}
