package dev.sluice.webhooks;

import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The part of the configuration that verdicts depend on.
 *
 * @param manageJobsWithoutQueueName whether jobs are managed that name no queue
 * @param managedNamespaces tells by its labels whether jobs of a namespace are managed
 * @param frameworks names of the enabled integrations, such as {@code batch/job}
 * @param gates tells by its name whether a feature gate is on
 */
public record WebhookSettings(
    boolean manageJobsWithoutQueueName,
    Predicate<Map<String, String>> managedNamespaces,
    Set<String> frameworks,
    Predicate<String> gates) {

  /** Takes a copy. */
  public WebhookSettings {
    frameworks = Set.copyOf(frameworks);
  }

  boolean isOn(String gate) {
    return gates.test(gate);
  }
}
