package dev.sluice.webhooks.rules;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.kind.AddedKinds;
import dev.sluice.jobs.kind.JobKindDescription;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The part of the configuration that webhooks use.
 *
 * @param manageJobsWithoutQueueName whether jobs without a queue name are managed
 * @param managedNamespaces whether jobs of a namespace with these labels are managed
 * @param frameworks names of the enabled integrations, such as {@code batch/job}
 * @param gates feature gates whose validation rules apply
 * @param working feature gates whose features are supported; others cause warnings
 * @param podsCounted whether pods are compared with what their Workloads were admitted with
 * @param declared the kinds of jobs that the cluster declares
 */
public record WebhookSettings(
    boolean manageJobsWithoutQueueName,
    Predicate<Map<String, String>> managedNamespaces,
    Set<String> frameworks,
    Set<FeatureGate> gates,
    Set<FeatureGate> working,
    boolean podsCounted,
    List<JobKindDescription> declared) {

  /** Copies the collections. */
  public WebhookSettings {
    frameworks = Set.copyOf(frameworks);
    gates = Set.copyOf(gates);
    working = Set.copyOf(working);
    declared = List.copyOf(declared);
  }

  /** Settings where pods are not counted. */
  public WebhookSettings(
      boolean manageJobsWithoutQueueName,
      Predicate<Map<String, String>> managedNamespaces,
      Set<String> frameworks,
      Set<FeatureGate> gates,
      Set<FeatureGate> working) {
    this(
        manageJobsWithoutQueueName,
        managedNamespaces,
        frameworks,
        gates,
        working,
        false,
        List.of());
  }

  /** Reads the settings from the configuration. */
  public static WebhookSettings of(Configuration configuration) {
    Set<FeatureGate> on = configuration.featureGates().on();
    Set<FeatureGate> gates = EnumSet.copyOf(on);
    if (configuration.kubeQueue().enabled()) {
      // QueueUnits steer by the boost: it counts, whoever writes it.
      gates.add(FeatureGate.PRIORITY_BOOST);
    }
    return new WebhookSettings(
        configuration.manageJobsWithoutQueueName(),
        configuration.managedJobsNamespaceSelector()::matches,
        Set.copyOf(configuration.integrations().frameworks()),
        gates,
        on,
        configuration.podAccounting().isOn(),
        List.copyOf(AddedKinds.of(configuration)));
  }

  /** Whether the rules of a feature gate are to be followed. */
  public boolean isOn(FeatureGate gate) {
    return gates.contains(gate);
  }
}
