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
 * @param frameworks the integrations that are on: what they are asked about has to wait for them
 * @param prepared integrations that may be turned on later without a new registration: until then
 *     nothing waits for an answer about them
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
    Set<String> prepared,
    boolean manageJobsWithoutQueueName,
    Optional<Selector> managedNamespaces,
    Optional<String> trustedUser,
    String reinvocationPolicy) {

  private static final String NAMESPACE_NAME = "kubernetes.io/metadata.name";

  /** The integrations whose jobs are pods or make pods that wait. */
  public static final Set<String> PODS = Set.of("pod", "deployment", "statefulset");

  /** Takes copies. */
  public WebhookRegistration {
    frameworks = Set.copyOf(frameworks);
    prepared = Set.copyOf(prepared);
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

  /** As the shipped manifests have it: a Service, all kinds, trust to be filled in later. */
  public static WebhookRegistration shipped(String namespace, String serviceName, String user) {
    return new WebhookRegistration(
        new Service(serviceName, namespace, 443),
        "",
        namespace,
        Set.of("batch/job", "pod", "deployment", "statefulset"),
        PODS,
        false,
        Optional.empty(),
        Optional.of(user),
        "Never");
  }

  /** Whether objects of this kind are asked about. */
  boolean covers(WebhookKind kind) {
    return kind.isOwn()
        || isOn(kind)
        || prepared.contains(kind.framework())
        || (kind.isPod() && PodWebhook.areActive(frameworks));
  }

  /** Whether nothing happens to objects of this kind without an answer. */
  boolean isOn(WebhookKind kind) {
    return frameworks.contains(kind.framework());
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
