package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.install.Installer.OptionalDefinitions;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Definitions of kinds that belong to others. */
@EnableKubernetesMockClient(crud = true)
class OptionalDefinitionsTest {

  private static final String THEIRS = "elasticquotas.scheduling.sigs.k8s.io";

  @SuppressWarnings("NullAway.Init") // set by the extension
  private KubernetesClient client;

  private List<CustomResourceDefinition> definitions() {
    return client.apiextensions().v1().customResourceDefinitions().list().getItems();
  }

  private CustomResourceDefinition theirs() {
    return definitions().stream()
        .filter(each -> each.getMetadata().getName().equals(THEIRS))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void thoseThatAreMissingAreMadeAndOthersAreLeftAsTheyAre() throws IOException {
    client
        .resource(
            """
            apiVersion: apiextensions.k8s.io/v1
            kind: CustomResourceDefinition
            metadata: {name: %s, labels: {owner: koordinator}}
            spec:
              group: scheduling.sigs.k8s.io
              scope: Namespaced
              names: {kind: ElasticQuota, plural: elasticquotas}
              versions: [{name: v1alpha1, served: true, storage: true}]
            """
                .formatted(THEIRS))
        .create();
    CustomResourceDefinition before = theirs();

    assertThat(OptionalDefinitions.install(client))
        .containsExactlyInAnyOrder(
            OptionalDefinitions.KUBE_QUEUE.stream()
                .filter(name -> !name.equals(THEIRS))
                .toArray(String[]::new));
    assertThat(theirs()).isEqualTo(before);
    assertThat(definitions()).hasSize(OptionalDefinitions.KUBE_QUEUE.size());

    List<CustomResourceDefinition> all = definitions();
    assertThat(OptionalDefinitions.install(client)).isEmpty();
    assertThat(definitions()).isEqualTo(all);
  }
}
