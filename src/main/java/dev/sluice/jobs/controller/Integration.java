package dev.sluice.jobs.controller;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobKindDescription;
import java.util.Collection;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * An entry of the {@link IntegrationRegistry}: one kind of job, and when and how it is controlled.
 *
 * @param description what the rest of the operator has to know of the kind
 * @param gate the feature gate that has to be on as well; empty if there is none
 * @param controller makes the controller of the kind; empty if the kind needs none, because the
 *     controller of another kind handles its pods, or because nothing is handled here
 */
public record Integration(
    JobKindDescription description,
    Optional<FeatureGate> gate,
    Optional<Function<JobControllerContext, JobKindController>> controller) {

  /** A kind whose objects are suspended and started by a field: all it needs is the integration. */
  public static Integration of(JobIntegration integration) {
    return controlled(integration, context -> new JobController(integration, context));
  }

  /** A kind with a controller of its own. */
  public static Integration controlled(
      JobKindDescription description,
      Function<JobControllerContext, JobKindController> controller) {
    return new Integration(description, Optional.empty(), Optional.of(controller));
  }

  /** A kind that another controller queues: its objects are only recognised as owners of jobs. */
  public static Integration external(JobKind kind) {
    return controlled(
        new ExternalOwner(kind), context -> new ExternalOwnerController(kind, context));
  }

  /** A kind that needs no controller. */
  public static Integration withoutController(JobKindDescription description) {
    return new Integration(description, Optional.empty(), Optional.empty());
  }

  /** The kind. */
  public JobKind kind() {
    return description.kind();
  }

  /** This entry, turned on only while a feature gate is on. */
  public Integration behind(FeatureGate required) {
    return new Integration(description, Optional.of(required), controller);
  }

  /** Whether a configuration with these frameworks and gates turns the kind on. */
  public boolean isEnabled(Collection<String> frameworks, Predicate<FeatureGate> gates) {
    return frameworks.contains(kind().framework()) && gate.filter(gates.negate()).isEmpty();
  }
}
