package dev.sluice.lab.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/**
 * An API server of the laboratory stays on this machine: it neither looks up the name of a Service
 * nor connects to its address, as one does by itself whose webhooks name a Service.
 */
@ControlPlaneTest
class ServiceReferenceIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** A webhook for this kind of object in the test's namespace, behind a Service. */
  private static void register(TestCluster cluster, String plural, String service, String bundle) {
    cluster.applyText(
        """
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingWebhookConfiguration
        metadata: {name: "%s-${suffix}"}
        webhooks:
        - name: %s.example.test
          admissionReviewVersions: [v1]
          sideEffects: None
          failurePolicy: Fail
          timeoutSeconds: 10
          clientConfig:
            service: {name: %s, namespace: "${namespace}", path: /validate}
            %s
          namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: "${namespace}"}}
          rules:
          - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [%s]}
        """
            .formatted(plural, plural, service, bundle, plural));
  }

  private static String refusal(TestCluster cluster, String kind) {
    return await("refusal of a " + kind)
        .atMost(LIMIT)
        .until(
            () -> {
              try {
                cluster.applyText(
                    """
                    apiVersion: v1
                    kind: %s
                    metadata: {generateName: any-}
                    """
                        .formatted(kind));
                return "";
              } catch (KubernetesClientException e) {
                return Objects.requireNonNullElse(e.getMessage(), "");
              }
            },
            message -> message.contains("failed calling webhook"));
  }

  @Test
  void aServiceThatNobodyMadeIsNotLookedUp(TestCluster cluster) {
    register(cluster, "configmaps", "nobody", "");

    assertThat(refusal(cluster, "ConfigMap"))
        .contains("nobody." + cluster.namespace() + ".svc", "dial tcp 127.0.0.1:1: connect:")
        .doesNotContain("lookup");
  }

  @Test
  void theAddressOfAServiceIsNotConnectedTo(TestCluster cluster) {
    cluster.applyText(
        """
        apiVersion: v1
        kind: Service
        metadata: {name: somebody, namespace: "${namespace}"}
        spec: {ports: [{port: 443}]}
        """);
    register(
        cluster,
        "secrets",
        "somebody",
        "caBundle: " + cluster.client().getConfiguration().getCaCertData());

    assertThat(refusal(cluster, "Secret")).contains("dial tcp 127.0.0.1:1: connect:");
  }
}
