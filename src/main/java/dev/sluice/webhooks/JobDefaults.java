package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.QueueNames;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.placement.LocalClusterAnnotations;
import java.util.Optional;

/** What is filled in at the creation of a job of any kind. */
final class JobDefaults {

  private final WebhookSettings settings;
  private final ClusterLookup cluster;

  JobDefaults(WebhookSettings settings, ClusterLookup cluster) {
    this.settings = settings;
    this.cluster = cluster;
  }

  /**
   * Fills in queue and priority class, and suspends the job if it is to be managed.
   *
   * @param suspend names of the fields on the way to the switch
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
   * Fills in queue and priority class.
   *
   * @return whether the job is to be managed
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
    // A job outside of the managed namespaces is never started again by anyone: not to be stopped.
    return inScope && (queued || settings.manageJobsWithoutQueueName());
  }

  /** Whether the jobs of the namespace are managed at all. */
  boolean isInScope(AdmissionRequest request) {
    return settings.managedNamespaces().test(cluster.namespaceLabels(request.namespace()));
  }

  /** Whether an object as it is, with nothing filled in, is managed. */
  boolean isManaged(AdmissionRequest request) {
    return isInScope(request)
        && (settings.manageJobsWithoutQueueName()
            || JobMetadata.of(request.object(), false).queue().isPresent())
        && !isOwnerManaged(request);
  }

  /**
   * Marks a job as one that runs in another cluster, if its queue sends jobs there and nobody but
   * the kind's own controller would run it otherwise. Where it may run here as well, it is marked
   * for that, and stays with the kind's own controller: who runs it can't be changed later.
   *
   * @param byDefault what the kind calls its own controller
   * @param managedBy names of the fields on the way to the mark
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

  /** Whether what makes the object is managed, so that the object itself isn't. */
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
