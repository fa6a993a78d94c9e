package dev.sluice.install;

import dev.sluice.api.ApiVersions;
import dev.sluice.webhooks.registration.WebhookConfigurations;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperations;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ServiceReference;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * All webhook registrations of a cluster, whoever made them.
 *
 * @param mutating those of mutating webhooks
 * @param validating those of validating ones
 */
public record RegisteredWebhooks(
    List<MutatingWebhookConfiguration> mutating, List<ValidatingWebhookConfiguration> validating) {

  /** An entry of a registration, of either kind. */
  private record Entry(HasMetadata of, WebhookClientConfig target, List<RuleWithOperations> rules) {

    boolean asksAboutTheApi() {
      return rules.stream().anyMatch(rule -> rule.getApiGroups().contains(ApiVersions.GROUP));
    }
  }

  /**
   * Lists both kinds.
   *
   * @throws KubernetesClientException if the API server can't be asked, or refuses
   */
  public static RegisteredWebhooks list(KubernetesClient client) {
    var registrations = client.admissionRegistration().v1();
    return new RegisteredWebhooks(
        registrations.mutatingWebhookConfigurations().list().getItems(),
        registrations.validatingWebhookConfigurations().list().getItems());
  }

  /** The one of mutating webhooks that has the name of the operator's. */
  Optional<MutatingWebhookConfiguration> ownMutating() {
    return mutating.stream().filter(RegisteredWebhooks::isOwn).findFirst();
  }

  /** The one of validating webhooks that has the name of the operator's. */
  Optional<ValidatingWebhookConfiguration> ownValidating() {
    return validating.stream().filter(RegisteredWebhooks::isOwn).findFirst();
  }

  private static boolean isOwn(HasMetadata registration) {
    String name = registration.getMetadata().getName();
    return name.equals(WebhookConfigurations.MUTATING)
        || name.equals(WebhookConfigurations.VALIDATING);
  }

  /** Those of other names that ask about objects of the API. */
  List<HasMetadata> others() {
    return entries()
        .filter(Entry::asksAboutTheApi)
        .map(Entry::of)
        .filter(registration -> !isOwn(registration))
        .distinct()
        .toList();
  }

  /** The Services to which the entries of the operator's names lead. */
  Stream<ServiceReference> ownServices() {
    return services(entries().filter(entry -> isOwn(entry.of())));
  }

  /** The Services that are asked about objects of the API. */
  public Stream<ServiceReference> servicesOfTheApi() {
    return services(entries().filter(Entry::asksAboutTheApi));
  }

  private static Stream<ServiceReference> services(Stream<Entry> entries) {
    return entries.flatMap(entry -> Stream.ofNullable(entry.target().getService())).distinct();
  }

  private Stream<Entry> entries() {
    return Stream.concat(
        mutating.stream()
            .flatMap(
                of ->
                    of.getWebhooks().stream()
                        .map(it -> new Entry(of, it.getClientConfig(), it.getRules()))),
        validating.stream()
            .flatMap(
                of ->
                    of.getWebhooks().stream()
                        .map(it -> new Entry(of, it.getClientConfig(), it.getRules()))));
  }
}
