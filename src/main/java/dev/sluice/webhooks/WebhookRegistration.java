package dev.sluice.webhooks;

import dev.sluice.api.config.Selector;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the API server is to ask, and whom.
 *
 * @param target whom
 * @param caBundle the authorities it trusts, in base64; empty where they are filled in later
 * @param operatorNamespace where the operator's own objects are
 * @param frameworks the integrations that are asked about
 * @param manageJobsWithoutQueueName whether jobs are managed that name no queue
 * @param managedNamespaces the namespaces whose jobs are asked about; empty means all but those of
 *     the system and of the operator
 * @param trustedUser the operator's own user, whose writes of Workloads aren't asked about; empty
 *     means that everybody's are
 * @param reinvocationPolicy {@code Never} or {@code IfNeeded}
 */
public record WebhookRegistration(
    Target target,
    String caBundle,
    String operatorNamespace,
    Set<String> frameworks,
    boolean manageJobsWithoutQueueName,
    Optional<Selector> managedNamespaces,
    Optional<String> trustedUser,
    String reinvocationPolicy) {

  private static final String NAMESPACE_NAME = "kubernetes.io/metadata.name";

  /** Takes a copy. */
  public WebhookRegistration {
    frameworks = Set.copyOf(frameworks);
  }

  /** Who answers. */
  public sealed interface Target {}

  /**
   * A Service in the cluster.
   *
   * @param name of the Service
   * @param namespace of the Service
   * @param port of the Service
   */
  public record Service(String name, String namespace, int port) implements Target {}

  /**
   * A process somewhere.
   *
   * @param base scheme, host and port, without a slash at its end
   */
  public record Url(String base) implements Target {}

  /** As the shipped manifests have it: a Service, jobs of batch/v1, trust to be filled in later. */
  public static WebhookRegistration shipped(String namespace, String serviceName, String user) {
    return new WebhookRegistration(
        new Service(serviceName, namespace, 443),
        "",
        namespace,
        Set.of("batch/job"),
        false,
        Optional.empty(),
        Optional.of(user),
        "Never");
  }

  /** The namespaces whose jobs are asked about. */
  Selector namespaces() {
    return managedNamespaces.orElseGet(
        () ->
            new Selector(
                Map.of(),
                List.of(
                    new Selector.Requirement(
                        NAMESPACE_NAME,
                        Selector.Operator.NOT_IN,
                        List.of("kube-system", operatorNamespace)))));
  }
}
