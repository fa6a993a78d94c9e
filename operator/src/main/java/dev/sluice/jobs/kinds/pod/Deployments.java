package dev.sluice.jobs.kinds.pod;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.kind.GatedKind;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.kind.WebhookRules;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflector.Store;
import dev.sluice.kube.reflect.Reflectors;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

  /**
   * The Deployments behind pods: their Workloads name the Deployment, and not the pod, by the label
   * {@code job-uid} (docs/pods.md#deployments). Between both is a ReplicaSet, which has the labels
   * of the pod template. Usable from any thread.
   */
  static final class DeploymentUids implements AutoCloseable {

    /** The kind between a Deployment and its pods. */
    static final JobKind REPLICA_SET = JobKind.of("apps", "v1", "ReplicaSet");

    private final Store<ReplicaSet> replicaSets = new Store<>(ReplicaSet::of);
    private final Reflector<Store.Item<ReplicaSet>> reflector;

    /** Knows no ReplicaSets before it is started. */
    DeploymentUids(Reflectors reflectors) {
      reflector =
          reflectors.of(
              REPLICA_SET.plural(),
              Reflectors.labeled(REPLICA_SET.collection(), KueueConstants.MANAGED, "true"),
              replicaSets);
    }

    /** Begins to read ReplicaSets. Nobody needs to wait for it, because a UID is needed later. */
    void start() {
      var unused = reflector.start();
    }

    /**
     * The UID of the Deployment that made a pod; empty if that is no Deployment, or unknown yet.
     */
    Optional<String> of(CachedJob job) {
      return controllerOf(job)
          .flatMap(
              owner ->
                  replicaSets
                      .find(job.ref().namespace(), owner.name())
                      .filter(found -> found.uid().equals(owner.uid())))
          .map(ReplicaSet::deployment)
          .filter(uid -> !uid.isEmpty());
    }

    /** Whether a pod is that of a Deployment, as its ReplicaSet will tell. */
    static boolean isAwaited(CachedJob job) {
      return Deployments.KIND
              .framework()
              .equals(job.annotations().get(KueueConstants.POD_SUSPENDING_PARENT))
          && controllerOf(job).isPresent();
    }

    private static Optional<CachedJob.Controller> controllerOf(CachedJob job) {
      return job.controller().filter(owner -> REPLICA_SET.is(owner.apiVersion(), owner.kind()));
    }

    @Override
    public void close() {
      reflector.close();
    }

    /**
     * What is kept of a ReplicaSet.
     *
     * @param deployment the UID of the Deployment that controls it; empty if none does
     */
    record ReplicaSet(String uid, String deployment) {

      /** Reads a ReplicaSet from its JSON. */
      static ReplicaSet of(JsonNode object) {
        JsonNode metadata = object.path("metadata");
        for (JsonNode owner : metadata.path("ownerReferences")) {
          if (owner.path("controller").asBoolean()
              && Deployments.KIND.is(
                  owner.path("apiVersion").asText(), owner.path("kind").asText())) {
            return new ReplicaSet(metadata.path("uid").asText(), owner.path("uid").asText());
          }
        }
        return new ReplicaSet(metadata.path("uid").asText(), "");
      }
    }
  }
}
