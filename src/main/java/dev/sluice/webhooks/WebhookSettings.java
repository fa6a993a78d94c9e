package dev.sluice.webhooks;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.FeatureGate;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The part of the configuration that verdicts depend on.
 *
 * @param manageJobsWithoutQueueName whether jobs are managed that name no queue
 * @param managedNamespaces tells by its labels whether jobs of a namespace are managed
 * @param frameworks names of the enabled integrations, such as {@code batch/job}
 * @param gates whose rules are held to
 * @param working gates whose capability is there; of what belongs to others, users are warned
 */
public record WebhookSettings(
    boolean manageJobsWithoutQueueName,
    Predicate<Map<String, String>> managedNamespaces,
    Set<String> frameworks,
    Set<FeatureGate> gates,
    Set<FeatureGate> working) {

  /** Rules on the form of what is written hold before the capability behind it is there. */
  private static final Set<FeatureGate> FORM =
      Set.of(
          FeatureGate.ADMISSION_GATED_BY,
          FeatureGate.TOPOLOGY_AWARE_SCHEDULING,
          FeatureGate.TAS_MULTI_LAYER_TOPOLOGY,
          FeatureGate.TAS_VALIDATE_WORKLOAD_SLICE_SIZE);

  /** Takes copies. */
  public WebhookSettings {
    frameworks = Set.copyOf(frameworks);
    gates = Set.copyOf(gates);
    working = Set.copyOf(working);
  }

  /** As the configuration says. */
  public static WebhookSettings of(Configuration configuration) {
    Set<FeatureGate> on = configuration.featureGates().on();
    Set<FeatureGate> gates = EnumSet.copyOf(FORM);
    gates.addAll(on);
    return new WebhookSettings(
        configuration.manageJobsWithoutQueueName(),
        configuration.managedJobsNamespaceSelector()::matches,
        Set.copyOf(configuration.integrations().frameworks()),
        gates,
        on);
  }

  boolean isOn(FeatureGate gate) {
    return gates.contains(gate);
  }
}
