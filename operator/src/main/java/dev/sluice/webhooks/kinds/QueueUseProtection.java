package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.queueing.AllowedSubjects;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.NumberReader;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.ClusterLookup.QueueUse;
import dev.sluice.webhooks.rules.JobDefaults;
import dev.sluice.webhooks.rules.JobDefaults.JobMetadata;
import dev.sluice.webhooks.rules.RunTimeValidation;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.Optional;

/**
 * Rejects the use of a LocalQueue or WorkloadPriorityClass by who may not use it
 * (docs/queueing-policies.md#who-may-use-a-queue-or-a-class), and of a LocalQueue for longer than
 * it allows by a Workload that somebody made (docs/run-times.md#queues). Judges whoever creates an
 * object, and whoever changes what it uses; what it used before stays. Delegates everything else to
 * another function.
 */
final class QueueUseProtection implements AdmissionFunction {

  private static final FieldPath SPEC = FieldPath.of("spec");

  private final ClusterLookup cluster;
  private final Subject subject;
  private final boolean boosts;
  private final JobDefaults defaults;
  private final AdmissionFunction function;

  /** What is judged. */
  enum Subject {
    /** A job of any kind but a pod. */
    JOB,
    /** A pod, alone, in a group, or of an object that is gated through its pods. */
    POD,
    /** A Workload. */
    WORKLOAD
  }

  QueueUseProtection(
      WebhookSettings settings,
      ClusterLookup cluster,
      Subject subject,
      AdmissionFunction function) {
    this.cluster = cluster;
    this.subject = subject;
    this.boosts = settings.isOn(FeatureGate.PRIORITY_BOOST);
    this.defaults =
        subject == Subject.POD
            ? new JobDefaults(settings, cluster, JobDefaults::hasMadeUpOwner)
            : new JobDefaults(settings, cluster);
    this.function = function;
  }

  @Override
  public AdmissionResult review(AdmissionRequest request) {
    if (!(request.isCreate() || request.isUpdate())
        || !request.requestingUser().isKnown()
        || request.isFinalizing()) {
      return function.review(request);
    }
    FieldErrors errors = new FieldErrors();
    if (subject == Subject.WORKLOAD) {
      judgeWorkload(request, errors);
    } else {
      judgeJob(request, errors);
    }
    return errors.errors().isEmpty()
        ? function.review(request)
        : new AdmissionResult.Rejected(errors.errors());
  }

  private void judgeWorkload(AdmissionRequest request, FieldErrors errors) {
    RunTimeValidation.validateWorkload(request, cluster, errors);
    QueueUse use = QueueUse.ofWorkload(request.object());
    QueueUse before = QueueUse.ofWorkload(request.oldObject());
    FieldPath classPath = SPEC.child("priorityClassRef").child("name");
    judge(request, use, before, new Paths(SPEC.child("queueName"), classPath), errors);
    long priority = priority(request.object());
    if (priority != priority(request.oldObject())) {
      FieldPath path =
          boost(request.object()) == boost(request.oldObject())
              ? SPEC.child("priority")
              : JobMetadata.ANNOTATIONS.key(KueueConstants.PRIORITY_BOOST);
      cluster.restrictedClassesUpTo(priority, use.priorityClass()).stream()
          .filter(each -> !mayUse(request, cluster.allowedInPriorityClass(each)))
          .min(String::compareTo)
          .filter(each -> !cluster.isOperator(request.user()))
          .ifPresent(
              each ->
                  errors.forbidden(
                      path,
                      refusal(
                          request,
                          cluster.allowedInPriorityClass(each),
                          "priority of WorkloadPriorityClass",
                          each)));
    }
  }

  /** The priority that counts: whoever may write the boost gives as much by it as by the field. */
  private long priority(JsonNode workload) {
    return JsonFields.at(workload, "spec", "priority").asLong() + boost(workload);
  }

  private long boost(JsonNode workload) {
    return boosts
        ? NumberReader.int32(
                JsonFields.annotations(workload).getOrDefault(KueueConstants.PRIORITY_BOOST, ""))
            .orElse(0)
        : 0;
  }

  private void judgeJob(AdmissionRequest request, FieldErrors errors) {
    QueueUse use = QueueUse.ofJob(request.object());
    QueueUse before = QueueUse.ofJob(request.oldObject());
    JobMetadata job = JobMetadata.of(request.object(), false);
    judge(
        request,
        use,
        before,
        new Paths(
            JobMetadata.LABELS.key(KueueConstants.QUEUE_NAME),
            JobMetadata.LABELS.key(KueueConstants.PRIORITY_CLASS)),
        errors);
    String shared = sharedWorkload(job);
    if (!shared.isEmpty()
        && !shared.equals(sharedWorkload(JobMetadata.of(request.oldObject(), false)))) {
      judgeShared(request, use, shared, errors);
    }
  }

  /** A job doesn't get the quota of a Workload that another one made, by naming it. */
  private void judgeShared(
      AdmissionRequest request, QueueUse use, String workload, FieldErrors errors) {
    FieldPath path = JobMetadata.of(request.object(), false).prebuiltPath();
    Optional<QueueUse> present = cluster.useOfWorkload(request.namespace(), workload);
    if (present.isPresent() && !present.get().equals(use)) {
      judge(request, present.get(), use, new Paths(path, path), errors);
    } else if (present.isEmpty()
        && subject == Subject.JOB
        && cluster.hasRestrictedQueue(request.namespace())
        && !cluster.isOperator(request.user())) {
      errors.forbidden(
          path,
          "Workload \""
              + request.namespace()
              + "/"
              + workload
              + "\" does not exist yet; in a namespace with a LocalQueue that not everybody may"
              + " use, it must be created before the job");
    }
  }

  /** The name of the Workload that others may have made; empty if it has one of its own. */
  private String sharedWorkload(JobMetadata job) {
    String group = subject == Subject.POD ? PodWebhook.groupName(job) : "";
    return group.isEmpty() ? job.prebuilt().orElse("") : group;
  }

  /** Where an object says what it uses. */
  private record Paths(FieldPath queuePath, FieldPath classPath) {}

  private void judge(
      AdmissionRequest request, QueueUse use, QueueUse before, Paths paths, FieldErrors errors) {
    AllowedSubjects ofQueue =
        use.queue().equals(before.queue()) && request.isUpdate()
            ? AllowedSubjects.EVERYBODY
            : cluster.allowedInQueue(request.namespace(), use.queue());
    AllowedSubjects ofClass =
        use.priorityClass().equals(before.priorityClass()) && request.isUpdate()
            ? AllowedSubjects.EVERYBODY
            : cluster.allowedInPriorityClass(use.priorityClass());
    boolean queueDenied = !mayUse(request, ofQueue);
    boolean classDenied = !mayUse(request, ofClass);
    QueueUse deniedUse =
        new QueueUse(queueDenied ? use.queue() : "", classDenied ? use.priorityClass() : "");
    if (deniedUse.equals(QueueUse.NONE)
        || cluster.isOperator(request.user())
        || passesOn(request, deniedUse)) {
      return;
    }
    if (queueDenied) {
      errors.forbidden(
          paths.queuePath(),
          refusal(request, ofQueue, "LocalQueue", request.namespace() + "/" + use.queue()));
    }
    if (classDenied) {
      errors.forbidden(
          paths.classPath(),
          refusal(request, ofClass, "WorkloadPriorityClass", use.priorityClass()));
    }
  }

  private static boolean mayUse(AdmissionRequest request, AllowedSubjects allowed) {
    return allowed.allows(request.user(), request.requestingUser().groups());
  }

  private static String refusal(
      AdmissionRequest request, AllowedSubjects allowed, String what, String name) {
    if (allowed.equals(AllowedSubjects.NOBODY)) {
      return "user \"%s\" may not use %s \"%s\"; it doesn't exist, or its annotations name nobody"
          .formatted(request.user(), what, name);
    }
    return "user \"%s\" may not use %s \"%s\"; its annotations %s and %s name who may"
        .formatted(request.user(), what, name, AllowedSubjects.USERS, AllowedSubjects.GROUPS);
  }

  /** Whether it is the part of a job that is managed as a whole. */
  private boolean belongsToManaged(AdmissionRequest request) {
    boolean gated =
        JsonFields.annotations(request.object()).containsKey(KueueConstants.POD_SUSPENDING_PARENT);
    return !(subject == Subject.POD && gated) && defaults.isOwnerManaged(request);
  }

  /**
   * Whether an owner was judged for what this user may not use: a controller of the cluster creates
   * for its owner, and the part of a managed job is its owner's. A part that names something else
   * is judged, because it may cease to be a part.
   */
  private boolean passesOn(AdmissionRequest request, QueueUse deniedUse) {
    return request.isCreate()
        && (JobDefaults.isClusterController(request.user()) || belongsToManaged(request))
        && defaults
            .believedOwner(request)
            .filter(owner -> cluster.hasUse(request.namespace(), owner, deniedUse))
            .isPresent();
  }
}
