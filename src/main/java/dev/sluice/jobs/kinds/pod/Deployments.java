package dev.sluice.jobs.kinds.pod;

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
