package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.TextLimits;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.queueing.PodsReadyTimeouts;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.NumberReader;
import dev.sluice.webhooks.rules.JobDefaults.JobMetadata;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
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

  /**
   * Validates how long a job or Workload says that its pods may take to be ready
   * (docs/workload-lifecycle.md#time-outs-of-a-single-workload).
   */
  public static final class PodsReadyValidation {

    private static final int MOST_SHOWN = 100;

    private PodsReadyValidation() {}

    /** Validates the annotation at creation and at every update, if its feature gate is on. */
    public static void validateObject(
        Map<String, String> annotations, WebhookSettings settings, FieldErrors errors) {
      String value = annotations.get(KueueConstants.WAIT_FOR_PODS_READY);
      if (value != null
          && settings.isOn(FeatureGate.WORKLOAD_LEVEL_WAIT_FOR_PODS_READY)
          && PodsReadyTimeouts.parse(value).isEmpty()) {
        errors.invalid(
            JobMetadata.ANNOTATIONS.key(KueueConstants.WAIT_FOR_PODS_READY),
            TextLimits.shown(value, MOST_SHOWN),
            "must be " + PodsReadyTimeouts.RULE);
      }
    }
  }

  /** Validates the annotation that names the admission gates of a job or Workload. */
  public static final class AdmissionGateValidation {

    private static final FieldPath PATH =
        FieldPath.of("metadata", "annotations").key(KueueConstants.ADMISSION_GATED_BY);
    private static final int MAX_LENGTH = 63;

    private AdmissionGateValidation() {}

    /**
     * Validates the annotation of an object that is created or changed; one without it is valid. An
     * empty annotation isn't: whoever takes the last name off removes it
     * (docs/workload-lifecycle.md).
     */
    public static void validateObject(Map<String, String> annotations, FieldErrors errors) {
      String value = annotations.get(KueueConstants.ADMISSION_GATED_BY);
      if (value == null) {
        return;
      }
      Optional<String> length = TextLimits.fault(value);
      if (length.isPresent()) {
        errors.invalid(PATH, value, length.get());
        return;
      }
      Set<String> seen = new HashSet<>();
      for (String item : TextLimits.items(value)) {
        if (item.isEmpty()) {
          errors.invalid(PATH, value, "must be names separated by commas, none of them empty");
          return;
        } else if (!seen.add(item)) {
          errors.duplicate(PATH, item, "a name may appear only once");
        } else if (item.length() > MAX_LENGTH) {
          errors.invalid(PATH, item, "must be no more than " + MAX_LENGTH + " bytes");
        } else {
          errors.invalid(PATH, item, NameValidation.domainPrefixedPath(item));
        }
      }
    }

    /**
     * Validates an update: gates may be removed after creation, but not added. Empty names are left
     * to {@link #validateObject}.
     */
    public static void validateUpdate(
        Map<String, String> before, Map<String, String> now, FieldErrors errors) {
      String value = now.get(KueueConstants.ADMISSION_GATED_BY);
      if (value == null) {
        return;
      }
      String old = before.get(KueueConstants.ADMISSION_GATED_BY);
      if (old == null) {
        errors.forbidden(PATH, "may be given only at creation, now \"" + value + "\"");
        return;
      }
      Set<String> added = new LinkedHashSet<>(TextLimits.items(value));
      added.remove("");
      TextLimits.items(old).forEach(added::remove);
      if (!added.isEmpty()) {
        errors.invalid(
            PATH, value, "names may only be removed, not added: " + String.join(", ", added));
      }
    }
  }
}
