package dev.sluice.checks.multikueue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.MultiCluster;
import io.fabric8.kubernetes.api.model.APIResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Locale;

/** Kinds that nothing here runs; the test plays their controllers. */
final class AnyFields {

  private AnyFields() {}

  /** Serves a kind whose objects may have any fields. */
  static void define(KubernetesClient client, String group, String version, String kind) {
    String singular = kind.toLowerCase(Locale.ROOT);
    MultiCluster.applyTo(
        client,
        """
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: %2$ss.%1$s}
        spec:
          group: %1$s
          scope: Namespaced
          names: {kind: %4$s, plural: %2$ss, singular: %2$s, listKind: %4$sList}
          versions:
          - name: %3$s
            served: true
            storage: true
            subresources: {status: {}}
            schema:
              openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
        """
            .formatted(group, singular, version, kind));
    MultiCluster.eventually(
        () ->
            assertThat(client.getApiResources(group + "/" + version))
                .isNotNull()
                .satisfies(
                    served ->
                        assertThat(served.getResources())
                            .extracting(APIResource::getKind)
                            .contains(kind)));
  }
}
