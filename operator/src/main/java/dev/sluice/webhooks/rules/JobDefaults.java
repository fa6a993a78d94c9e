package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.QueueNames;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.jobs.controller.OwnerChainResolver.BelievedOwners;
import dev.sluice.jobs.kind.WebhookRules.Review.SuspendField;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.webhooks.review.FieldError;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** Sets default values when a job of any kind is created. */
public final class JobDefaults {

  private static final BelievedOwners BELIEVED =
      new BelievedOwners(BuiltInIntegrations.descriptions());

  private final WebhookSettings settings;
  private final ClusterLookup cluster;
  private final BelievedOwners believed;

  private final Predicate<AdmissionRequest> madeUpOwner;

  /** For a kind whose owner references are always believed. */
  public JobDefaults(WebhookSettings settings, ClusterLookup cluster) {
    this(settings, cluster, request -> false);
  }

  /**
   * For a kind whose owner references are not always believed.
   *
   * @param madeUpOwner the requests whose object doesn't belong to the owner that it names
   */
  public JobDefaults(
      WebhookSettings settings, ClusterLookup cluster, Predicate<AdmissionRequest> madeUpOwner) {
    this.settings = settings;
    this.cluster = cluster;
    this.madeUpOwner = madeUpOwner;
    this.believed = new BelievedOwners(BuiltInIntegrations.descriptions(), settings.podsCounted());
  }

  /**
   * Sets queue and priority class, and suspends the job if it is managed; names the controller that
   * runs the job if the kind has a field for that.
   *
   * @return whether the job is managed
   */
  public boolean mutate(AdmissionRequest request, JsonPatch patch, SuspendField field) {
    boolean managed = names(request, patch);
    String[] suspend = field.suspend().toArray(String[]::new);
    if (managed && !JsonFields.at(request.object(), suspend).asBoolean()) {
      patch.set(BooleanNode.TRUE, suspend);
    }
    if (managed && !field.managedBy().isEmpty()) {
      defaultManagedBy(request, patch, field);
    }
    return managed;
  }

  /**
   * Sets queue and priority class.
   *
   * @return whether the job is managed
   */
  public boolean names(AdmissionRequest request, JsonPatch patch) {
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

  /**
   * The error of an update by which somebody starts a job that is being evicted: its quota is given
   * back when its pods are gone, and who starts it again and again would keep that from others.
   *
   * @return a new list, which the caller may change; empty for any other request
   */
  public List<FieldError> refusedStart(AdmissionRequest request, SuspendField field) {
    FieldErrors errors = new FieldErrors();
    String[] suspend = field.suspend().toArray(String[]::new);
    if (request.isUpdate()
        && JsonFields.at(request.oldObject(), suspend).asBoolean()
        && !JsonFields.at(request.object(), suspend).asBoolean()
        && !cluster.isOperator(request.user())
        && cluster.isBeingEvicted(
            request.namespace(), ClusterLookup.Owner.of(request.oldObject()))) {
      errors.forbidden(
          FieldPath.of(suspend),
          "may not be false while the Workload of the job is evicted and its pods have to end");
    }
    return new ArrayList<>(errors.errors());
  }

  /** Whether the jobs of the namespace are managed at all. */
  public boolean isInScope(AdmissionRequest request) {
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
   */
  private void defaultManagedBy(AdmissionRequest request, JsonPatch patch, SuspendField field) {
    String byDefault = field.controller();
    String[] managedBy = field.managedBy().toArray(String[]::new);
    String present = JsonFields.text(patch.object(), managedBy);
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

  /**
   * Whether the owner of the object is managed, so that the object itself is not. An owner that
   * can't have created the object isn't believed.
   */
  public boolean isOwnerManaged(AdmissionRequest request) {
    return believedOwner(request)
        .filter(owner -> cluster.isManaged(request.namespace(), owner))
        .isPresent();
  }

  /** The controlling owner of the object, if that can have created it. */
  public Optional<ClusterLookup.Owner> believedOwner(AdmissionRequest request) {
    if (madeUpOwner.test(request)) {
      return Optional.empty();
    }
    for (JsonNode owner : JsonFields.list(request.object(), "metadata", "ownerReferences")) {
      if (JsonFields.at(owner, "controller").asBoolean()) {
        return believed
            .of(controller(owner), request.kind(), JsonFields.labels(request.object()))
            .map(it -> new ClusterLookup.Owner(it.apiVersion(), it.kind(), it.name(), it.uid()));
      }
    }
    return Optional.empty();
  }

  private static CachedJob.Controller controller(JsonNode owner) {
    return new CachedJob.Controller(
        JsonFields.text(owner, "apiVersion"),
        JsonFields.text(owner, "kind"),
        JsonFields.text(owner, "name"),
        JsonFields.text(owner, "uid"));
  }

  /**
   * Whether the object is a pod that names a controller of the cluster as its own, and that neither
   * such a controller created nor the owner's counts; or one that names a pod as its controller,
   * and that no service account of its namespace created, as which pods create pods.
   */
  public static boolean hasMadeUpOwner(AdmissionRequest request) {
    return request.isCreate()
        && !isClusterController(request.user())
        && JsonFields.list(request.object(), "metadata", "ownerReferences").stream()
            .filter(owner -> JsonFields.at(owner, "controller").asBoolean())
            .map(JobDefaults::controller)
            .anyMatch(
                owner ->
                    SinglePod.KIND.is(owner.apiVersion(), owner.kind())
                        ? !isServiceAccountOf(request.namespace(), request.user())
                        : !BELIEVED.adopts(owner, JsonFields.labels(request.object())));
  }

  private static boolean isServiceAccountOf(String namespace, String user) {
    return user.startsWith("system:serviceaccount:" + namespace + ":");
  }

  /** The controllers of built-in kinds, in one process or each with an account of its own. */
  public static boolean isClusterController(String user) {
    return user.equals("system:kube-controller-manager")
        || user.startsWith("system:serviceaccount:kube-system:");
  }

  /**
   * The part of a job that all kinds share, as input of validation.
   *
   * @param labels labels of the job
   * @param annotations annotations of the job
   * @param isSuspended whether the job is suspended
   */
  public record JobMetadata(
      Map<String, String> labels, Map<String, String> annotations, boolean isSuspended) {

    /** The path of the labels. */
    public static final FieldPath LABELS = FieldPath.of("metadata", "labels");

    /** The path of the annotations. */
    public static final FieldPath ANNOTATIONS = FieldPath.of("metadata", "annotations");

    /** Reads labels and annotations; whether it is suspended, the caller knows from the kind. */
    public static JobMetadata of(JsonNode object, boolean isSuspended) {
      return new JobMetadata(
          JsonFields.labels(object), JsonFields.annotations(object), isSuspended);
    }

    /** The name of the LocalQueue, if the job has one. */
    public Optional<String> queue() {
      return QueueNames.of(labels, annotations);
    }

    /** The path of the queue name. */
    FieldPath queuePath() {
      boolean annotated =
          labels.getOrDefault(KueueConstants.QUEUE_NAME, "").isEmpty()
              && annotations.containsKey(KueueConstants.QUEUE_NAME);
      return (annotated ? ANNOTATIONS : LABELS).key(KueueConstants.QUEUE_NAME);
    }

    /** The name of the prebuilt Workload, if the job has one. */
    public Optional<String> prebuilt() {
      return Optional.ofNullable(annotations.get(KueueConstants.PREBUILT_WORKLOAD_NAME))
          .or(() -> Optional.ofNullable(labels.get(KueueConstants.PREBUILT_WORKLOAD_NAME)));
    }

    /** The path of the name of the prebuilt Workload. */
    public FieldPath prebuiltPath() {
      return (annotations.containsKey(KueueConstants.PREBUILT_WORKLOAD_NAME) ? ANNOTATIONS : LABELS)
          .key(KueueConstants.PREBUILT_WORKLOAD_NAME);
    }

    /** The value of a label; empty if the job has no such label. */
    public String label(String key) {
      return labels.getOrDefault(key, "");
    }

    /** Whether the job may change its size while it runs. */
    public boolean isElastic() {
      return "true".equals(annotations.get(KueueConstants.ELASTIC_JOB));
    }
  }
}
