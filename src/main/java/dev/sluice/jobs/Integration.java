package dev.sluice.jobs;

import dev.sluice.api.config.FeatureGate;
import java.util.Collection;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * An entry of the {@link IntegrationRegistry}: one kind of job, and when and how it is controlled.
 *
 * @param kind the kind
 * @param enabledBy the frameworks of the configuration any of which turns the kind on; pods are
 *     turned on by every framework whose jobs are made of gated pods
 * @param gate the feature gate that has to be on as well; empty if there is none
 * @param controller makes the controller of the kind; empty if the kind needs none, because the
 *     controller of another kind handles its pods
 */
public record Integration(
    JobKind kind,
    Set<String> enabledBy,
    Optional<FeatureGate> gate,
    Optional<Function<JobControllerContext, JobKindController>> controller) {

  public Integration {
    enabledBy = Set.copyOf(enabledBy);
  }

  /** A kind whose objects are suspended and started by a field: all it needs is the integration. */
  public static Integration of(JobIntegration integration) {
    return controlled(integration.kind(), context -> new JobController(integration, context));
  }

  /** A kind with a controller of its own. */
  public static Integration controlled(
      JobKind kind, Function<JobControllerContext, JobKindController> controller) {
    return new Integration(
        kind, Set.of(kind.framework()), Optional.empty(), Optional.of(controller));
  }

  /** A kind that needs no controller. */
  public static Integration withoutController(JobKind kind) {
    return new Integration(kind, Set.of(kind.framework()), Optional.empty(), Optional.empty());
  }

  /** This entry, turned on by other frameworks than its own too. */
  public Integration alsoEnabledBy(Set<String> frameworks) {
    Set<String> all = new HashSet<>(enabledBy);
    all.addAll(frameworks);
    return new Integration(kind, all, gate, controller);
  }

  /** This entry, turned on only while a feature gate is on. */
  public Integration behind(FeatureGate required) {
    return new Integration(kind, enabledBy, Optional.of(required), controller);
  }

  /** Whether a configuration with these frameworks and gates turns the kind on. */
  public boolean isEnabled(Collection<String> frameworks, Predicate<FeatureGate> gates) {
    return frameworks.stream().anyMatch(enabledBy::contains)
        && gate.filter(gates.negate()).isEmpty();
  }
}
