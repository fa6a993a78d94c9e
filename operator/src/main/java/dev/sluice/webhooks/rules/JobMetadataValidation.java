package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.NumberReader;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/** Validates the labels and annotations through which a job of any kind addresses its queue. */
public final class JobMetadataValidation {

  private final WebhookSettings settings;
  private final ClusterLookup cluster;
  private static final String ELASTIC_KINDS =
      BuiltInIntegrations.descriptions().stream()
          .filter(JobKindDescription::canBeElastic)
          .map(description -> description.kind().kind())
          .sorted()
          .collect(Collectors.joining(", "))
          .replaceFirst(", (\\w+)$", " and $1");

  private final boolean canBeElastic;
  private final boolean acceptsPrebuiltWorkload;

  /**
   * Creates a validation for one kind, whose jobs may name a Workload that was made for them.
   *
   * @param canBeElastic whether jobs of this kind may change their size while they run
   */
  public JobMetadataValidation(
      WebhookSettings settings, ClusterLookup cluster, boolean canBeElastic) {
    this(settings, cluster, canBeElastic, true);
  }

  private JobMetadataValidation(
      WebhookSettings settings,
      ClusterLookup cluster,
      boolean canBeElastic,
      boolean acceptsPrebuiltWorkload) {
    this.settings = settings;
    this.cluster = cluster;
    this.canBeElastic = canBeElastic;
    this.acceptsPrebuiltWorkload = acceptsPrebuiltWorkload;
  }

  /** Creates a validation by what is known of a kind. */
  public static JobMetadataValidation of(
      JobKindDescription kind, WebhookSettings settings, ClusterLookup cluster) {
    return new JobMetadataValidation(
        settings, cluster, kind.canBeElastic(), kind.acceptsPrebuiltWorkload());
  }

  /**
   * Validates a job at creation and at every update.
   *
   * @param namespace the namespace of the job
   */
  public void validateObject(JobMetadata job, String namespace, FieldErrors errors) {
    job.prebuilt()
        .ifPresent(
            name -> {
              errors.invalid(job.prebuiltPath(), name, NameValidation.subdomain(name));
              if (!acceptsPrebuiltWorkload) {
                errors.forbidden(
                    job.prebuiltPath(), "a Workload is always made for objects of this kind");
              }
            });
    maxExecTime(job, namespace, errors);
    validateBasicObject(job, errors);
  }

  /** Validates an object that is not a job itself but creates pods that are jobs. */
  void validateBasicObject(JobMetadata job, FieldErrors errors) {
    job.queue()
        .ifPresent(
            queue -> errors.invalid(job.queuePath(), queue, NameValidation.subdomain(queue)));
    if (job.annotations().containsKey(KueueConstants.ELASTIC_JOB) && !canBeElastic) {
      errors.forbidden(
          JobMetadata.ANNOTATIONS.key(KueueConstants.ELASTIC_JOB),
          "only " + ELASTIC_KINDS + " can be elastic");
    }
    if (settings.isOn(FeatureGate.ADMISSION_GATED_BY)) {
      AdmissionGateValidation.validateObject(job.annotations(), errors);
    }
    PlacementValidation.validateObject(job.annotations(), errors);
    RunTimeValidation.validateObject(job.annotations(), errors);
    PodsReadyValidation.validateObject(job.annotations(), settings, errors);
  }

  private void maxExecTime(JobMetadata job, String namespace, FieldErrors errors) {
    String value = job.labels().get(KueueConstants.MAX_EXEC_TIME_SECONDS);
    if (value == null) {
      return;
    }
    OptionalInt seconds = NumberReader.int32(value);
    if (seconds.isEmpty() || seconds.getAsInt() <= 0) {
      errors.invalid(
          JobMetadata.LABELS.key(KueueConstants.MAX_EXEC_TIME_SECONDS),
          value,
          "must be an integer greater than 0, at most " + Integer.MAX_VALUE);
    } else if (job.queue().isPresent()) {
      RunTimeValidation.validateLimit(
          seconds.getAsInt(), cluster.maxRunTime(namespace, job.queue().get()), errors);
    }
  }

  /** Validates an update. */
  public void validateUpdate(
      JobMetadata before, JobMetadata now, String namespace, FieldErrors errors) {
    queue(before, now, namespace, errors);
    if (!before.prebuilt().equals(now.prebuilt())
        && !now.isSuspended()
        && !(canBeElastic && now.isElastic())) {
      errors.immutable(
          now.prebuiltPath(), TextNode.valueOf(now.prebuilt().orElse("")), "while the job runs");
    }
    if (!before
            .label(KueueConstants.MAX_EXEC_TIME_SECONDS)
            .equals(now.label(KueueConstants.MAX_EXEC_TIME_SECONDS))
        && !(before.isSuspended() && now.isSuspended())) {
      errors.immutable(
          JobMetadata.LABELS.key(KueueConstants.MAX_EXEC_TIME_SECONDS),
          TextNode.valueOf(now.label(KueueConstants.MAX_EXEC_TIME_SECONDS)),
          "unless the job is suspended");
    }
    priorityClass(before, now, errors);
    elastic(before, now, errors);
    PlacementValidation.validateUpdate(before, now, errors);
    if (settings.isOn(FeatureGate.ADMISSION_GATED_BY)) {
      AdmissionGateValidation.validateUpdate(before.annotations(), now.annotations(), errors);
    }
  }

  /**
   * Validates an update of an object that is not a job itself but creates pods that are jobs.
   *
   * @param before suspended if none of its pods is ready
   */
  void validateBasicUpdate(JobMetadata before, JobMetadata now, FieldErrors errors) {
    boolean emptied = now.queue().isEmpty();
    if (!before.queue().equals(now.queue()) && (emptied || !now.isSuspended())) {
      errors.immutable(
          emptied ? before.queuePath() : now.queuePath(),
          TextNode.valueOf(now.queue().orElse("")),
          emptied ? "once it is given" : "while pods are ready");
    }
    priorityClass(before, now, errors);
    if (settings.isOn(FeatureGate.ADMISSION_GATED_BY)) {
      AdmissionGateValidation.validateUpdate(before.annotations(), now.annotations(), errors);
    }
  }

  private void queue(JobMetadata before, JobMetadata now, String namespace, FieldErrors errors) {
    if (before.queue().equals(now.queue())) {
      return;
    }
    FieldPath path = now.queue().isPresent() ? now.queuePath() : before.queuePath();
    TextNode value = TextNode.valueOf(now.queue().orElse(""));
    if (!now.isSuspended()) {
      errors.immutable(path, value, "while the job runs");
    } else if (now.queue().isEmpty() && cluster.hasDefaultLocalQueue(namespace)) {
      errors.invalid(
          path, value, "must not be emptied in a namespace that has a LocalQueue \"default\"");
    }
  }

  private static void priorityClass(JobMetadata before, JobMetadata now, FieldErrors errors) {
    FieldPath path = JobMetadata.LABELS.key(KueueConstants.PRIORITY_CLASS);
    String was = before.label(KueueConstants.PRIORITY_CLASS);
    String is = now.label(KueueConstants.PRIORITY_CLASS);
    if (!was.isEmpty() && is.isEmpty()) {
      errors.invalid(path, is, "must not be removed, it was \"" + was + "\"");
    } else if (was.isEmpty() && !is.isEmpty() && !now.isSuspended()) {
      errors.invalid(path, is, "must not be added while the job runs");
    }
  }

  private static void elastic(JobMetadata before, JobMetadata now, FieldErrors errors) {
    if (!Objects.equals(
        before.annotations().get(KueueConstants.ELASTIC_JOB),
        now.annotations().get(KueueConstants.ELASTIC_JOB))) {
      errors.immutable(
          JobMetadata.ANNOTATIONS.key(KueueConstants.ELASTIC_JOB),
          TextNode.valueOf(now.annotations().getOrDefault(KueueConstants.ELASTIC_JOB, "")),
          "");
    }
  }
}
