package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.GatedKind;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.JobPolicy;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.ReconcileContext;
import dev.sluice.jobs.policy.WorkloadFactory;
import dev.sluice.jobs.policy.WorkloadFactory.PrioritySource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * The Workload that a job would get, by the rules of the job's controller; nothing is written
 * (docs/simulate.md#kinds). Thread-safe.
 */
public final class WorkloadPreview {

  private final JobControllerContext context;

  /** With the kinds, rules and caches of the controllers. */
  public WorkloadPreview(JobControllerContext context) {
    this.context = context;
  }

  /** What a job would get. */
  public sealed interface Preview {

    /**
     * This Workload, as it would be sent to the API server.
     *
     * @param note what it leaves out, for people; may be empty
     */
    record Composed(ObjectNode workload, String note) implements Preview {}

    /** No Workload of its own; {@code why} is for people. */
    record None(String why) implements Preview {}
  }

  /** The kind of an object, if jobs of that kind are queued; a version of it must be served. */
  public Optional<JobKind> kind(String apiVersion, String kind) {
    return context.registry().enabled(apiVersion, kind).map(Integration::kind);
  }

  /**
   * What a job would get that is created now.
   *
   * @param job the object, with the defaults of its webhook; it is changed: what the API server
   *     gives to a new object is added
   */
  public Preview of(ObjectNode job) {
    return described(job, GatedKind.class)
        .map(kind -> of(kind.made(job)))
        .orElseGet(() -> of(GatedKind.Made.one(job)));
  }

  private <T> Optional<T> described(ObjectNode object, Class<T> type) {
    return context
        .registry()
        .enabled(object.path("apiVersion").asText(), object.path("kind").asText())
        .map(Integration::description)
        .filter(type::isInstance)
        .map(type::cast);
  }

  private Preview of(GatedKind.Made made) {
    Optional<JobIntegration> found = described(made.job(), JobIntegration.class);
    if (found.isEmpty()) {
      return new Preview.None(
          "jobs of kind " + made.job().path("kind").asText() + " can't be simulated");
    }
    JobIntegration integration = found.get();
    ObjectNode job = made.job();
    identify(job);
    CachedJob cachedJob =
        CachedJobParser.of(integration, context.registry().resolved(integration.kind(), job));
    if (!cachedJob.prebuiltWorkload().isEmpty()) {
      return new Preview.None("it names a Workload that was made for it");
    }
    ManagementStatus status = context.ownerChainResolver().status(cachedJob);
    if (!(status instanceof ManagementStatus.Own)) {
      return new Preview.None(
          status instanceof ManagementStatus.Unmanaged
              ? "it is not queued: it names no queue, or its namespace is not managed"
              : "it is part of another job, which is queued for it");
    }
    if (!(integration instanceof GatedKind)) {
      return preview(decide(integration, cachedJob, status));
    }
    return cachedJob.controller().isPresent()
        ? new Preview.None("it is a pod of another object, which can be asked about")
        : preview(cachedJob, integration.podSets(job), made);
  }

  /** All pods of a job that is queued by its pods, as one Workload. */
  private Preview preview(CachedJob job, List<PodSetTemplate> podSets, GatedKind.Made made) {
    return switch (PrioritySource.of(job, context.dependencies().priorities())) {
      case PrioritySource.Missing missing ->
          new Preview.None("%s \"%s\" does not exist".formatted(missing.kind(), missing.name()));
      case PrioritySource.Found found ->
          checked(
              new WorkloadFactory(context.options())
                  .compose(
                      job,
                      podSets.stream().map(podSet -> podSet.times(made.times())).toList(),
                      found),
              made.note());
    };
  }

  private List<JobAction> decide(
      JobIntegration integration, CachedJob cachedJob, ManagementStatus status) {
    JobReconciler.Dependencies dependencies = context.dependencies();
    return new JobPolicy(integration, context.options(), context.managedByCheck())
        .decide(
            new ReconcileContext(
                cachedJob,
                status,
                List.of(),
                Optional.empty(),
                dependencies.flavors(),
                dependencies.priorities(),
                dependencies.clock().instant()));
  }

  private Preview preview(List<JobAction> actions) {
    for (JobAction action : actions) {
      switch (action) {
        case CreateWorkload(var workload) -> {
          return checked(workload, "");
        }
        case Warn(var _, var note) -> {
          return new Preview.None(note);
        }
        default -> {}
      }
    }
    return new Preview.None("it would get no Workload");
  }

  private Preview checked(ObjectNode workload, String note) {
    List<String> errors = context.dependencies().validation().errors(workload);
    return errors.isEmpty()
        ? new Preview.Composed(workload, note)
        : new Preview.None("its Workload would be refused: " + String.join("; ", errors));
  }

  /** Gives the job what the API server gives to a new object, but for the time. */
  private static void identify(ObjectNode job) {
    ObjectNode metadata = job.withObjectProperty("metadata");
    if (metadata.path("name").asText().isEmpty()) {
      metadata.put("name", metadata.path("generateName").asText() + "simulated");
    }
    metadata.put("uid", UUID.randomUUID().toString()).put("generation", 1);
    metadata.remove("creationTimestamp");
  }
}
