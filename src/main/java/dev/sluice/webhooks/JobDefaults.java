package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.QueueNames;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.placement.LocalClusterAnnotations;
import java.util.Optional;

/** Sets default values when a job of any kind is created. */
final class JobDefaults {

  private final WebhookSettings settings;
  private final ClusterLookup cluster;

  JobDefaults(WebhookSettings settings, ClusterLookup cluster) {
    this.settings = settings;
    this.cluster = cluster;
  }

  /**
   * Sets queue and priority class, and suspends the job if it is managed.
   *
   * @param suspend field names of the path to the suspend field
   * @return whether the job is managed
   */
  boolean mutate(AdmissionRequest request, JsonPatch patch, String... suspend) {
    boolean managed = names(request, patch);
    if (managed && !ReviewJson.at(request.object(), suspend).asBoolean()) {
      patch.set(BooleanNode.TRUE, suspend);
    }
    return managed;
  }

  /**
   * Sets queue and priority class.
   *
   * @return whether the job is managed
   */
  boolean names(AdmissionRequest request, JsonPatch patch) {
    JobMetadata job = JobMetadata.of(request.object(), false);
    if (isOwnerManaged(request)) {
      return false;
    }
    boolean inScope = isInScope(request);
    boolean queued = job.queue().isPresent();
    if (!queued && inScope && cluster.hasDefaultLocalQueue(request.namespace())) {
      patch.set(QueueNames.DEFAULT, "metadata", "labels", KueueConstants.QUEUE_NAME);
      queued = true;
    }
    if (job.label(KueueConstants.PRIORITY_CLASS).isEmpty()
        && settings.isOn(FeatureGate.WORKLOAD_PRIORITY_CLASS_DEFAULTING)
        && cluster.hasDefaultPriorityClass()) {
      patch.set(QueueNames.DEFAULT, "metadata", "labels", KueueConstants.PRIORITY_CLASS);
    }
    // no reconciler unsuspends a job outside of the managed namespaces, so such a job must not be
    // suspended
    return inScope && (queued || settings.manageJobsWithoutQueueName());
  }

  /** Whether the jobs of the namespace are managed at all. */
  boolean isInScope(AdmissionRequest request) {
    return settings.managedNamespaces().test(cluster.namespaceLabels(request.namespace()));
  }

  /** Whether an object is managed without any defaults. */
  boolean isManaged(AdmissionRequest request) {
    return isInScope(request)
        && (settings.manageJobsWithoutQueueName()
            || JobMetadata.of(request.object(), false).queue().isPresent())
        && !isOwnerManaged(request);
  }

  /**
   * Sets the managed-by field to MultiKueue if the job's queue dispatches to worker clusters and no
   * other controller manages the job. If the queue's jobs may also run in this cluster, the field
   * is set to the kind's own controller, because it cannot be changed later.
   *
   * @param byDefault the managed-by value of the kind's own controller
   * @param managedBy field names of the path to the managed-by field
   */
  void defaultManagedBy(
      AdmissionRequest request, JsonPatch patch, String byDefault, String... managedBy) {
    String present = ReviewJson.text(patch.object(), managedBy);
    Optional<String> queue = JobMetadata.of(patch.object(), false).queue();
    if (settings.isOn(FeatureGate.MULTI_KUEUE)
        && (present.isEmpty() || present.equals(byDefault))
        && queue.filter(it -> cluster.runsElsewhere(request.namespace(), it)).isPresent()) {
      if (queue.filter(it -> cluster.mayRunHere(request.namespace(), it)).isPresent()) {
        patch.set("true", "metadata", "annotations", LocalClusterAnnotations.MAY_RUN_HERE);
      } else {
        patch.set(KueueConstants.MULTIKUEUE, managedBy);
      }
    }
  }

  /** Whether the owner of the object is managed, so that the object itself is not. */
  boolean isOwnerManaged(AdmissionRequest request) {
    for (JsonNode owner : ReviewJson.list(request.object(), "metadata", "ownerReferences")) {
      if (ReviewJson.at(owner, "controller").asBoolean()) {
        return cluster.isManaged(
            request.namespace(),
            new ClusterLookup.Owner(
                ReviewJson.text(owner, "apiVersion"),
                ReviewJson.text(owner, "kind"),
                ReviewJson.text(owner, "name"),
                ReviewJson.text(owner, "uid")));
      }
    }
    return false;
  }
}
